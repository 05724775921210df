"""Feature selection on MNIST (paper, Fig. 1 bottom, and App. F).

The paper: the layer before the last of a CNN, d = 10, after M different numbers of epochs; accuracies from 20 % to 97
%, the second best 84 %; rewards are linear in the best map, with the parameter of a random class, plus noise U[-1/2,
1/2]; 10 images a round, one of that class; 100 problems.

What the text leaves open and what we chose: rounds offer official test images; M = 2, 5, 10, 20 (the best map, the
second best, and others down to the worst), T = 2000, delta = 0.05. In the regime of theory lambda = 1 for the paper's
policies, d R^2 / S^2 for ours, and U(n) = sqrt(n), since no bound of SquareCB is known for every n. Rewards are not cut
to [0, 1], which would make them non-linear. Snapshots come from one training run; its own head has the accuracy stated,
but the bandit fits a head of its own, so that the worst map is far from useless. Maps have RMS norm 1. Parameters are
fitted with class weights 1:9, as often as rounds offer the classes. Tuning plays other tasks on the same images.
"""

from .fs_shared import image_experiment

EXPERIMENT = image_experiment("fs-mnist", "Feature selection, MNIST", "Figure 1, bottom", __doc__ or "", replicates=40)
