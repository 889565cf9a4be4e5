"""The small shared page of released calls: two counters and a text, the same on both sides.

    word 0   GO       the judge writes the number of the call that may begin; LEAVE ends serving
    word 1   DONE     the runner writes the number of the call that has ended
    word 2   STATUS   0: returned, 1: raised
    word 3   LENGTH   bytes of the text at TEXT: an Outcome or Failed message as JSON
    word 4   BINDING  the judge writes the number of the binding to call

Words are 8 bytes, native order; an aligned word is written at once. The text is written before DONE.
"""

from __future__ import annotations

PAGE_BYTES = 64 << 10
GO, DONE, STATUS, LENGTH, BINDING = range(5)
TEXT = 64
TEXT_BYTES = PAGE_BYTES - TEXT
LEAVE = (1 << 64) - 1
RETURNED, RAISED = 0, 1
