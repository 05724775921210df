"""The paper's constants and bounds, one function per equation, as printed and as corrected.

`feature_selection` has those of FS-SCB and FS-OFUL, `parameter_selection` those of PS-OFUL. They are made of `linear`
(ridge experts), `oracle` (SqAlg, inverse gap weighting) and `likelihood` (confidence sets that the paper lacks).
Arguments are words; results follow the shape of ``t``. ``form="printed"`` is the formula of the paper, kept for
comparison; ``form="corrected"``, the default, is the one that is proved. Arguments are checked; `trusted` leaves that
out, for an equation that is evaluated in every round with arguments that were checked once.
"""

from . import feature_selection, likelihood, linear, oracle, parameter_selection
from ._arguments import trusted

__all__ = ["feature_selection", "likelihood", "linear", "oracle", "parameter_selection", "trusted"]
