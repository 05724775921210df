"""Feature selection on CIFAR-100 (paper, App. F).

The paper: 1280 features of a fine-tuned EfficientNet-B0 through Gaussian random matrices to d_i in [2, 128]; accuracies
from 5 % to 78 %, the second best 55 %; tasks as on MNIST, 100 classes; 100 problems.

What the text leaves open and what we chose: rounds offer official test images; the best map has d_i = 128 and the
others are far narrower, as listed below, for accuracies like the paper's; M = 2, 5, 10, 20, T = 2000, delta = 0.05. In
the regime of theory lambda = 1 for the paper's policies, d R^2 / S^2 for ours, and U(n) = sqrt(n), since no bound of
SquareCB is known for every n. The network is EfficientNet-Lite0. Parameters are fitted with class weights 1:9; with
equal weights the rewards of all images are so close to each other that the noise drowns them. Maps have RMS norm 1.
Rewards are not cut to [0, 1]. Tuning plays other tasks on the same images.
"""

from .fs_shared import image_experiment

EXPERIMENT = image_experiment("fs-cifar100", "Feature selection, CIFAR-100", "Appendix F", __doc__ or "", replicates=10)
