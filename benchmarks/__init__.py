"""How fast banditselect is: against its peers, against plain NumPy, and against what the machine allows."""
