"""``python -m banditselect`` is the command ``banditselect``."""

from .cli import main

if __name__ == "__main__":
    main()
