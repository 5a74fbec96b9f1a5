"""Pages as a browser reads them: elements with their attributes and texts, by Python's own parser."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "input", "br", "link", "img"})


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    inner: "list[Element | str]" = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.inner)

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    def walk(self) -> "Iterator[Element]":
        yield self
        for each in self.inner:
            if isinstance(each, Element):
                yield from each.walk()

    def all(self, name: str, **attributes: str) -> "list[Element]":
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [
            each
            for each in self.walk()
            if each.name == name
            and all(value in (each.attributes.get(key) or "").split(" ") for key, value in wanted.items())
        ]

    def one(self, name: str, **attributes: str) -> "Element":
        (result,) = self.all(name, **attributes)
        return result


class Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].inner.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inner.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while len(self.open) > 1:
            if self.open.pop().name == tag:
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].inner.append(data)


def parsed(text: str) -> Element:
    parser = Parser()
    parser.feed(text)
    parser.close()
    return parser.root
