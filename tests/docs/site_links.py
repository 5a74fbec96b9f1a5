"""Links, resources and anchors of an HTML page."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, without a click.
FETCHED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
# These name pages, and fetch nothing.
NAMING = frozenset({"next", "prev", "index", "search", "author", "canonical"})


@dataclass
class PageLinks(HTMLParser):
    links: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self):
        super().__init__()

    def handle_starttag(self, tag, attrs):
        given = {name: value for name, value in attrs if value is not None}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHED and FETCHED[tag] in given and not (tag == "link" and given.get("rel") in NAMING):
            self.resources.append(given[FETCHED[tag]])


def links_of(page):
    result = PageLinks()
    result.feed(page.read_text(encoding="utf-8"))
    return result


def is_elsewhere(link):
    parts = urlsplit(link)
    return bool(parts.scheme or parts.netloc)


def broken_links(site):
    """Links inside the site whose file or anchor is not there, as `page: link`."""
    pages = {page: links_of(page) for page in sorted(site.rglob("*.html"))}
    broken = []
    for page, result in pages.items():
        for link in [*result.links, *result.resources]:
            if not is_elsewhere(link) and not leads_somewhere(link, page, pages):
                broken.append(f"{page.relative_to(site)}: {link}")
    return broken


def leads_somewhere(link, page, pages):
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in pages or anchor in pages[target].anchors
