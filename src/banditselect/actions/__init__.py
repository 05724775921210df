"""Actions that ``act`` takes besides arrays: items of a catalogue, the points of an ellipsoid, crossed features."""

from .catalogue import Catalogue
from .crossing import cross_features
from .ellipsoid import Ball, Ellipsoid

__all__ = ["Ball", "Catalogue", "Ellipsoid", "cross_features"]
