"""Source code, highlighted, for light and dark."""

from __future__ import annotations

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers.c_cpp import CppLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer

from services.text import clean

MAX_CHARACTERS = 100_000
LEXERS: dict[str, type[Lexer]] = {
    ".py": PythonLexer,
    ".cpp": CppLexer,
    ".h": CppLexer,
    ".hpp": CppLexer,
}


def highlighted(name: str, source: str) -> Markup:
    """The file as HTML, its text escaped; the classes are those of `style_sheet`."""
    lexer = next((kind for suffix, kind in LEXERS.items() if name.endswith(suffix)), TextLexer)
    text = clean(source, MAX_CHARACTERS)
    formatter = HtmlFormatter(cssclass="code", wrapcode=True)
    return Markup(highlight(text, lexer(stripnl=False), formatter))


def style_sheet() -> Markup:
    """The colours of highlighted source in both modes."""
    light = HtmlFormatter(style="xcode").get_style_defs(".code")  # type: ignore[no-untyped-call]
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")  # type: ignore[no-untyped-call]
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")
