"""The studies behind pages of the documentation. Their runs are stored, so that a study can be stopped and resumed."""

from joblib import Memory

MEMORY = Memory("out/studies", verbose=0)  #: delete the folder after a change of code that a study calls
