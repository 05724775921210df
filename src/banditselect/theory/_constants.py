"""The constants that equations share, declared once: each is an argument of every equation with ``**model``."""

from typing import NotRequired, TypedDict

from numpy.typing import ArrayLike


class Ridge(TypedDict):
    """Ridge regressions around centres; ``regularization`` is 1 / radius**2 unless given."""

    dim: ArrayLike
    noise: float
    feature_bound: float
    radius: ArrayLike
    delta: float
    regularization: NotRequired[ArrayLike | None]


class Balls(Ridge):
    """An expert for every one of M balls."""

    n_models: int
    reward_bound: float


class Ridges(TypedDict):
    """Ridge regressions whose constants may be arrays that broadcast with ``t``."""

    dim: ArrayLike
    noise: ArrayLike
    feature_bound: ArrayLike
    radius: ArrayLike
    delta: float
    regularization: NotRequired[ArrayLike | None]


class Experts(Ridges):
    """The experts of SqAlg."""

    n_models: int
    reward_bound: ArrayLike


class Map(TypedDict):
    """Ridge regressions around 0, for feature maps."""

    dim: ArrayLike
    noise: float
    feature_bound: float
    parameter_bound: float
    regularization: ArrayLike
    delta: float


class Maps(TypedDict):
    """An expert for every one of M feature maps; constants may be arrays that broadcast with ``t``."""

    dim: ArrayLike
    n_models: int
    noise: ArrayLike
    feature_bound: ArrayLike
    reward_bound: ArrayLike
    parameter_bound: ArrayLike
    regularization: ArrayLike
    delta: float
