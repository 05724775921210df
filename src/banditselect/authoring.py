"""Names for a policy, a model, a play, a feature map or a problem of your own, in one place.

Besides NumPy, no other import is needed.

``CONTRIBUTING.md`` builds one of each. Names that every kind needs: ``argument`` and the constraints ``Number``,
``Numbers``, ``OneOf``, ``YesNo``, ``Bounds``, ``Widths``, ``Rate`` (or a ``Constraint`` of your own), ``refuse`` for
errors, the types ``Array``, ``Index``, ``Mask``.

* A policy from existing parts: ``Policy``, ``register``, ``answer``; a model, such as ``RidgeBank`` over
  ``maps_of(dim)``; a play, such as ``Best``, ``Optimism``, ``Sampling``, or ``InverseGaps`` with a ``GapRate``.
  ``per_lane`` spreads an argument given per lane; ``Power`` and ``as_schedule`` make rates that change with the rounds.
* A policy that is no model and play: ``Chosen`` and ``Played``, which ``_choose`` returns and ``_learn`` receives.
* A model: ``Model``, ``LaneArrays`` for a part of one, ``Features``, ``maps_of`` for its shape, ``kernel`` to compile.
* A play: ``Play``, ``Features``, ``best`` for actions of highest score, ``kernel`` to compile.
* A feature map: ``FeatureMap``, or ``Encoder`` for some columns; both read ``Records``.
* A problem: ``Problem``, which draws ``Instances``.
* Any other object made from keyword arguments: ``Configured``.

This module stands above the packages that it collects; nothing in the library imports it.
"""

from .kernels import kernel
from .kernels.features import Features
from .maps import Encoder, FeatureMap, Records
from .models.model import Model
from .models.ridge_bank import RidgeBank
from .plays.inverse_gaps import GapRate, InverseGaps
from .plays.optimism import Best, Optimism, best
from .plays.play import Play
from .plays.sampling import Sampling
from .plays.schedules import Power, as_schedule
from .policies.contract import Chosen, Played, answer
from .policies.policy import Policy
from .problems import Instances, Problem
from .runtime.arguments import Configured, argument
from .runtime.constraints import Bounds, Constraint, Number, Numbers, OneOf, Rate, Widths, YesNo
from .runtime.errors import refuse
from .runtime.files import register
from .runtime.lanes import LaneArrays, per_lane
from .runtime.shapes import maps_of
from .types import Array, Index, Mask

__all__ = ["Bounds", "Configured", "Constraint", "Number", "Numbers", "OneOf", "Rate", "Widths", "YesNo", "argument"]
__all__ += ["Power", "as_schedule", "per_lane", "refuse"]
__all__ += ["Chosen", "Played", "Policy", "answer", "register"]  # a policy
__all__ += ["LaneArrays", "Model", "RidgeBank", "maps_of"]  # a model
__all__ += ["Best", "GapRate", "InverseGaps", "Optimism", "Play", "Sampling", "best"]  # a play
__all__ += ["Features", "kernel"]  # a model and a play
__all__ += ["Encoder", "FeatureMap", "Records"]  # a feature map
__all__ += ["Instances", "Problem"]  # a problem
__all__ += ["Array", "Index", "Mask"]
