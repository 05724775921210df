from collections.abc import Iterator

import pytest
from image_server import CONTENT, Server, single

from tools.packs.official import DataSet


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    running = Server()
    yield running
    running.close()


@pytest.fixture
def tiny(server: Server) -> DataSet:
    """Return a data set of one file with two mirrors."""
    server.files = {"/one/x.gz": CONTENT, "/two/x.gz": CONTENT}
    return single(server.url("/one/x.gz"), server.url("/two/x.gz"))
