"""From images to packs of features: reading data sets, training networks, fitting balls. Needs ``[images]``."""
