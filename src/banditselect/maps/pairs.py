"""Maps out of encoders of the context and of the items."""

from ..types import Array
from .base import FeatureMap, bounded
from .encoder import Encoder, check_encoders
from .records import Records


class Items(FeatureMap):
    """The features of the items alone: what is best is the same in every context.

    Parameters
    ----------
    items: the encoder of the items.

    Examples
    --------
    >>> from banditselect import maps
    >>> cheap = maps.Items(maps.Numbers("price", scale=None))
    >>> cheap.features({"age": 30}, [{"price": 2.5}, {"price": 4}])
    array([[2.5],
           [4. ]])
    """

    def __init__(self, items: Encoder) -> None:
        check_encoders("Items: items", items)
        self.items = items

    @property
    def names(self) -> list[str]:
        """A name of every feature."""
        return self.items.names

    def _features(self, context: Records, items: Records, strict: bool) -> Array:
        return bounded(items.encoded(self.items, "_encode", strict))
