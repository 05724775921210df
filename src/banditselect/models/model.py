"""The contract of a model: what a policy learns."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.features import Features
from ..runtime.lanes import LaneArrays
from ..runtime.shapes import FeatureShape
from ..types import Array, Index, Mask


class Model(LaneArrays):
    """Arrays with a row per lane, ``learn``, and answers to the questions of plays and users.

    A model knows features, rewards and lanes. It knows no decision, ledger, action, file or warning filter. It answers
    a question by having a method of its name; a play says which it asks (``Play.asks``):

    * ``predict(ids, x)``: the predicted reward of every action, ``(n, K)``;
    * ``predict_offered(ids, x, offered)``: the same where it depends on which actions are offered;
    * ``upper_bounds(ids, x)``: the largest reward that the confidence sets allow, ``(n, K)``;
    * ``sampled(ids, x, normals)``: scores ``(n, K)`` of a member and parameter drawn with ``normals (n, n_normals)``;
    * ``rounds``: how many rewards count, ``(N,)``: those learned, or the sum of their faded weights;
    * ``weights()``: the weights of the members, ``(N, M)``;
    * ``beliefs()``: the arrays of a mixture that the kernels of ``Information`` and ``Divergence`` read, described in
      ``models.posterior``.

    Rows may share a lane in these questions; no lane repeats in ``learn``.

    A model whose members come and go (``policies.members``) has ``fixed_members = None``. One over regions answers

    * ``adopt(other, fresh, move)``: learn what a model of other regions has, which was ``fresh`` before;

    and one over feature maps

    * ``total_weight()``: the logarithm of the sum of the weights before they are normalised, ``(N,)``;
    * ``reweigh(total, shares, replayed)``: weigh the members when the last have come, with prior ``shares (k,)``, or
      some have gone. ``total`` is what it was before; ``replayed``: whether the new ones learned all rewards so far;
    * ``asleep(ids, members)``: a context manager; in it, a reward is learned that these members know nothing about;
    * ``count_from(other)``, if it counts rewards: begin after the rewards that another has learned.

    Features of actions are :class:`~banditselect.kernels.features.Features` with values ``(n, P, K, d)`` (P maps),
    those of the actions played ``(n, P, d)``; row r belongs to lane ``ids[r]``. Copy the arrays that you keep.

    This class learns nothing and answers nothing.

    Attributes
    ----------
    shape: the features that it reads.
    constant: whether a constant 1 is to stand before the features that it is given.
    one_kernel: whether ``learn`` is one kernel, which raises the rewards learned, ``updates (N,)``, last; an
        interruption then finds a reward either learned or not. For any other model the policy keeps a copy of the lanes
        while they learn.
    note_width: how many numbers it needs again with the reward.
    reads_lookups: whether items of a catalogue may come as a :class:`~banditselect.kernels.features.Lookup`, which
        kernels read; otherwise ``x.values`` is always an array.
    rank: where the members given stand inside it, ``(N, M)``; None where the order is the same.
    fixed_members: why its members cannot come and go, in words; None where they can.
    unit_free: whether no decision depends on the units of the features.
    ridge_estimates: whether its estimates are those of ridges with fixed penalties and equal rewards.
    warnings: texts for the user; the policy gives and clears them.
    """

    constant: bool = False
    one_kernel: bool = False
    note_width: int = 0
    reads_lookups: bool = False
    rank: Index | None = None
    fixed_members: str | None = "it has no members"
    unit_free: ClassVar[bool] = False
    ridge_estimates: bool = False

    def __init__(self, shape: FeatureShape) -> None:
        self.shape = shape
        self.warnings: list[str] = []

    def learn(self, ids: Index, x: Features, y: Array, note: Array | None = None) -> None:
        """Learn features of the actions played and rewards ``y (n,)``; no lane repeats."""

    def note(self, ids: Index, x: Features, offered: Mask | None) -> Array:
        """Return the numbers that it needs again with the reward, ``(n, note_width)``. Changes nothing."""
        return x.values[:, 0, :0, 0]

    def in_given_order(self, array: NDArray[Any]) -> Any:
        """Return an array ``(N, M, ...)`` with the members in the order in which they were given."""
        if self.rank is None:
            return array
        return np.take_along_axis(array, self.rank.reshape(self.rank.shape + (1,) * (array.ndim - 2)), axis=1)
