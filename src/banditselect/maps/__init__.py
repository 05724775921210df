"""From records to features: encoders of columns, and maps that combine a context and its items."""

from .base import Concat, Encoder, FeatureMap
from .categories import Categories
from .disjoint import Disjoint
from .external import Function, Transformer
from .numbers import Numbers
from .pairs import HashedInteractions, Items, Outer, SideBySide
from .proposals import Candidates, candidates
from .records import Records
from .text import Text
from .transforms import Fourier, Polynomials
from .unknown import AnyColumns
from .vectors import Embeddings, Vectors

__all__ = [
    "AnyColumns",
    "Candidates",
    "Categories",
    "Concat",
    "Disjoint",
    "Embeddings",
    "Encoder",
    "FeatureMap",
    "Fourier",
    "Function",
    "HashedInteractions",
    "Items",
    "Numbers",
    "Outer",
    "Polynomials",
    "Records",
    "SideBySide",
    "Text",
    "Transformer",
    "Vectors",
    "candidates",
]
