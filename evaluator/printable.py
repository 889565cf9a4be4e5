"""Text of foreign code, made fit to be shown, stored and hashed."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` without control characters (but line ends and tabs) and lone surrogates, each shown as `\\xNN` or such.

    Terminals would obey the first; databases and encoders refuse the second, and NUL.
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else ascii(c)[1:-1] for c in text)
