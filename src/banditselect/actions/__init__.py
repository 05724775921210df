"""Actions that `act` takes besides arrays: items of a catalogue, ellipsoids, products with a context."""
