"""Feature packs from image files: fetch the official data sets, train networks on them, write what experiments load.

Packs ship with the library (``banditselect.experiments.packs`` loads them), so that nobody needs images, a GPU or torch
to run an experiment. This tool made them and makes them anew: ``python -m tools.packs --help``.

The way of the data: `official` (which files there are) -> `download`, `files` (onto the disk) -> `readers` (arrays) ->
`networks`, `training`, `extraction` (features) -> `linear`, `balls` (what is fitted to them) -> `build`, `writing` (the
pack), as `recipes` says for each pack.
"""
