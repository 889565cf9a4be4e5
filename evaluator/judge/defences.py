"""The judge's defences, each with a switch, so that a cheat can be shown to win without the one that stops it.

All are on. An evaluation made with one off says so and is never promotable; no setting, command or request of the
product can reach the switches.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Defences:
    """What stops which kind of cheat."""

    secret_seeds: bool = True
    """Values that nobody can regenerate. Off: every draw uses one public seed."""
    fresh_values: bool = True
    """New values for every call. Off: a workload's first values are used again and again."""
    frozen_while_filled: bool = True
    """The runner does not run while inputs are laid. Off: it does, and has a while before the clock starts."""
    sample_inside_clock: bool = True
    """The runner is stopped, and outputs are looked at, before the clock stops. Off: only later, when late work may
    have finished."""
    every_call_verified: bool = True
    """Timed outputs are verified. Off: only those of the other gates."""
    derived_bound: bool = True
    """The error bound comes from the reference's own error. Off: a tolerance of one in a hundred."""
    results_stay: bool = True
    """A result must outlive the next call. Off: it may be overwritten."""
    nothing_else_written: bool = True
    """Inputs and red zones must stay as they were. Off: they may change."""
    least_constant: bool = True
    """What is taken off a call is the least that native code needs, and a time that this leaves in doubt is no score.
    Off: what our own runner needs is taken off, and every time counts."""

    quiet_samples: bool = True
    """Disturbed samples are void. Off: they count as they are."""

    @property
    def off(self) -> tuple[str, ...]:
        """The names of those that are switched off."""
        return tuple(f.name for f in fields(self) if not getattr(self, f.name))
