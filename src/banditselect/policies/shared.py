"""Arguments and answers that several policies share, as in ``noise: float | ArrayLike = shared.NOISE``."""

from ..models.model import Model
from ..plays.play import Play
from ..runtime.arguments import argument
from ..runtime.constraints import Bounds, Number, NumberOrName, Numbers, OneOf, Widths, YesNo
from ..runtime.inputs import SMALLEST
from .contract import answer

ModelAndPlay = tuple[Model, Play | None]  #: what ``build`` returns; no play for a policy that writes ``_choose``

POSITIVE = Number(low=SMALLEST, per_lane=True)
POSITIVE_OR_NONE = Number(low=SMALLEST, per_lane=True, optional=True)

# Conditions of arguments that have to be given. A type checker sees that they have no default only where a policy calls
# ``argument`` itself, as in ``dim: int = argument(shared.SIZE)``.
SIZE = Number(low=1, integer=True)  #: how many models, arms or features
WIDTHS = Widths()
CENTER = Numbers(shapes=((None,), (None, None)), lane_axes=2)
CENTERS = Numbers(shapes=((None, None), (None, None, None)), lane_axes=3)

BLOCKS = argument(Number(low=1, integer=True), default=1)
MAP_BLOCKS = argument(Widths(), default=1)
INTERCEPT = argument(YesNo(), default=True)
NO_INTERCEPT = argument(YesNo(), default=False)

NOISE = argument(POSITIVE, default=0.5, unit="reward")
GUESSED_NOISE = argument(POSITIVE_OR_NONE, default=None, unit="reward")
LEARNED_NOISE = argument(POSITIVE_OR_NONE, default=None, unit="reward")
DELTA = argument(Number(low=0.0, high=1.0, above=True, below=True), default=0.05)
SCALE = argument(Number(low=0.0), default=1.0)
RATE_FACTOR = argument(Number(low=SMALLEST), default=1.0)
MISSPECIFICATION = argument(Number(low=0.0), default=0.0, unit="reward")

REGULARIZATION = argument(POSITIVE, default=1.0)
MODEL_REGULARIZATION = argument(Numbers(shapes=((), (None,)), low=SMALLEST, optional=True), default=None)
MEMORY = argument(Number(low=1.0, above=True, optional=True), default=None)
LEARNED_MEMORY = argument(NumberOrName(low=1.0, above=True, optional=True, names=("learned",)), default=None)

REWARD_RANGE = argument(Bounds(), default=(0.0, 1.0), unit="reward")
PARAMETER_BOUND = argument(Number(low=0.0, per_lane=True), default=1.0, unit="reward")
FEATURE_BOUND_OR_NONE = argument(POSITIVE_OR_NONE, default=None)
REWARD_BOUND_OR_NONE = argument(Number(low=0.0, per_lane=True, optional=True), default=None, unit="reward")
HORIZON_OR_NONE = argument(Number(low=1, integer=True, optional=True), default=None)

RADIUS_OF_MODEL = Numbers(shapes=((), (None,), (None, None)), low=0.0, lane_axes=2)
RADII = argument(RADIUS_OF_MODEL, default=1.0, unit="reward")
RADIUS_ERRORS = argument(RADIUS_OF_MODEL, default=0.0, unit="reward")
SHAPES = argument(Numbers(shapes=((None, None, None),), optional=True), default=None)
PRIOR_WEIGHTS = argument(Numbers(shapes=((None,),), low=0.0, optional=True), default=None)
FLOOR = argument(Number(low=0.0, high=1.0), default=0.0)
BEST_SHARE = argument(Number(low=0.0, high=1.0, below=True), default=0.99)
LIKELIHOOD = argument(OneOf(("evidence", "online")), default="evidence")

PARAMETERS = answer("parameters", "Estimate, ``(d,)``; with blocks one for each, ``(blocks, d)``.", by_map=True)
CONSTANT = answer("constants", "Estimate of the constant term, 0 without one; with blocks ``(blocks,)``.", by_map=True)
NOISE_ESTIMATE = answer("noise", "Noise of the rewards as given, or as learned; NaN until rewards say anything of it.")
MEMORY_WEIGHTS = answer("memory_weights", "With a learned memory, how probable ``MEMORIES`` are, ``(4,)``.")
ADMISSIBLE = answer("admissible", "Which models are not refuted, ``(M,)``.")
MISSPECIFIED = answer(
    "misspecified", "Whether it is proved, at level delta, that no model is true or the noise larger."
)
OUTSIDE = answer("expected.outside", "Number of rewards outside ``reward_range``.")
OUTSIDE_OF_RANGE = answer("range.outside", "Number of rewards outside ``reward_range``.")
