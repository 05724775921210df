"""Parameter selection on MNIST (paper, App. F).

The paper: the 12 neurons before the last layer of a CNN with 98 % accuracy; 100 M data sets of size 500, a linear model
for each, a Gaussian mixture with M components: its means and covariances are the centres and radii of M balls; each
round 10 images, one of class s* in [M]; rewards Ber(0.9) for it, Ber(0.1) for others. PS-OFUL, RB-OFUL, OFUL, and BIAS-
OFUL with the centre of the true model; 50 runs.

What the text leaves open and what we chose: rounds offer official test images; the "OFUL baselines" of RB-OFUL are
BIAS-OFUL on every ball; M = 2, 5, 10, T = 2000, delta = 0.05, R = 0.427 (the tight constant of these coins), U(n) the
bound that each base has on its own regret, or u sqrt(n) where u is tuned; S = max_i (|mu_i| + r_i) of these balls for
OFUL, whose lambda is tuned in theory and "tuned", and 1 in "practical"; SqAlg inside PS-OFUL works on the printed range
in theory, else on that of the rewards. The network is a small CNN. Features are whitened and 1 is appended (d = 13);
the fits are calibrated to rewards 0.9 and 0.1. Balls come from images that the network has not seen. The mixture is one
of spherical Gaussians, since a ball is asked for. A radius b is the RMS distance of the mixture's component to its
centre, c the error of that centre; the paper's policies have r = b + c. Most of b is estimation noise of the fits, not
spread of the class, so PS-OFUL with r = c is shown as well. Rewards are not exactly linear: no bound of theory applies.
Tuning plays other tasks on the same images.
"""

from .ps_shared import image_experiment

EXPERIMENT = image_experiment("ps-mnist", "Parameter selection, MNIST", "Appendix F", __doc__ or "")
