"""How Sphinx builds the site from these pages: `make docs`. Any warning is an error."""

from pygments.lexers.data import JsonLexer
from pygments.lexers.shell import BashLexer
from sphinx.application import Sphinx

project = "Groupscope"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Groupscope"
# Links to headings are checked down to this level.
myst_heading_anchors = 4
html_copy_source = False
html_show_sphinx = False


def setup(app: Sphinx) -> None:
    """Languages of code blocks that Pygments does not know: tests find the blocks that they run by these names."""
    app.add_lexer("jsonl", JsonLexer)
    app.add_lexer("acls", BashLexer)
    app.add_lexer("settings", BashLexer)
