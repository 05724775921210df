"""Feature packs from image files: fetch the official data sets, train networks on them, write what experiments load.

Packs ship with the library (``banditselect.experiments.packs`` loads them), so experiments need no images, GPU or
torch. This tool made them and can rebuild them: ``python -m tools.packs --help``.

Data flow: `official` (list of files) -> `download`, `files` (onto the disk) -> `readers` (arrays) -> `networks`,
`training`, `extraction` (features) -> `linear`, `balls` (fits) -> `build`, `writing` (the pack). `recipes` has the
settings of each pack.
"""
