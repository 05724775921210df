"""The speed of banditselect: against its peers, against plain NumPy, and against the limits of the machine."""
