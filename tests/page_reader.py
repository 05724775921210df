"""Reads an HTML page for the tests of reports."""

from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Reads a page and refuses one whose tags are not balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.sources, self.words = [], [], [], [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.tags.append((tag, told))
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told["href"]] if "href" in told else []
        self.sources += [told["src"]] if "src" in told else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data if self.open and self.open[-1] != "style" else ""
