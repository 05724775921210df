"""How policies play and learn: regimes that an argument chooses by name, picked once when the policy is built.

The defaults - weights by evidence, likelihood-ratio sets - stand beside the formulas as the paper prints them, behind
one interface each: what aggregates experts (:mod:`.inverse_gap`), what bounds rewards (:mod:`.optimism`). The steps of
the policies that are made of them stand in the same two files, those of policies made of policies in :mod:`.meta`,
:mod:`.balancing` and :mod:`.data_driven`.
"""
