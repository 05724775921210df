import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")
os.environ.setdefault("OMP_NUM_THREADS", "1")
