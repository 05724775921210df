"""From records to features: encoders of columns, and maps that bring a context and its items together."""

from .base import FeatureMap
from .encoder import Concat, Encoder
from .numbers import Numbers
from .pairs import Items
from .recipe import from_dict, to_dict
from .records import Records

__all__ = ["Concat", "Encoder", "FeatureMap", "Items", "Numbers", "Records", "from_dict", "to_dict"]
