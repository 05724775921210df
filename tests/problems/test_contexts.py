"""The problem in which every wrong map is refuted on a context of its own."""

import numpy as np

from banditselect.problems import ContextPerMap


def test_features_and_means_are_those_of_the_example():
    """Action 1 has (1, 1) in the map of the context and (1, 0) in all others, and earns D on the first context only."""
    instances = ContextPerMap(n_models=3, gap=0.25).draw(range(4), 30, seed=1)
    for t in range(30):
        x, context = instances.features(t), instances.context[:, t]
        for n, c in enumerate(context):
            assert not x[n, :, 0].any()
            np.testing.assert_array_equal(x[n, :, 1], [[1.0, float(j == c)] for j in range(3)])
            np.testing.assert_array_equal(instances.means(t)[n], [0.0, 0.25 if c == 0 else -0.25])
    assert set(np.unique(instances.context)) == {0, 1, 2}
