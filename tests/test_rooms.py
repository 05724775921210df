"""The picture of the rooms is that of the import rules and of the imports that there are."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_picture_of_the_rooms_is_up_to_date(tmp_path):
    spec = importlib.util.spec_from_file_location("rooms", DOCS / "rooms.py")
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    names = rooms.rooms()
    assert (names[0], names[-1]) == ("types", "cli")
    assert all(names.index(above) < names.index(room) for room, above in rooms.imports())
    rooms.draw(tmp_path / "rooms.svg")
    drawn, kept = (folder / "rooms.svg" for folder in (tmp_path, DOCS / "figures"))
    assert drawn.read_text() == kept.read_text(), "the rooms or their imports changed: run python docs/rooms.py"
