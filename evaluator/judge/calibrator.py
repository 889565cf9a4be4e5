"""Calibrating this machine: shortly at a judge's start, or at length for `kernelwright calibrate`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evaluator.build.builder import Builder
from evaluator.device.cpu import sealed_file
from evaluator.evaluation import InfraError
from evaluator.judge import ceilings, noise
from evaluator.judge.calibration import Calibration, call_costs, from_costs, native_noop, unguarded
from evaluator.judge.seat import Seat
from evaluator.problem.candidate import Candidate

BUILD_SECONDS = 60.0
FEW_RESTARTS, MANY_RESTARTS = 3, 20


class Calibrator:
    """Measures with fresh runners, which `start` gives. Raises InfraError where they fail."""

    def __init__(self, start: Callable[[], Seat], threads: int, builder: Builder) -> None:
        self._start = start
        self._threads = threads
        self._builder = builder

    def briefly(self, least_constant: bool = True) -> Calibration:
        """Constants, resolution and noise, in about a second. On a machine without a compiler nothing is taken off.

        Without `least_constant` what our own runner needs is taken off, and every time counts.
        """
        try:
            with self._built(native_noop()) as library:
                costs = call_costs(self._start, self._threads, library)
        except InfraError:
            costs = call_costs(self._start, self._threads, None)
        if not least_constant:
            return unguarded(costs)
        return from_costs(costs, self._noise(FEW_RESTARTS), None)

    def thoroughly(self) -> Calibration:
        """All of it, the ceilings, too. Raises InfraError where there is no compiler."""
        with self._built(native_noop()) as library:
            costs = call_costs(self._start, self._threads, library)
        with self._built(ceilings.ceiling_loops()) as library:
            found = ceilings.measure(self._start, self._threads, library, costs["destination"].least)
        return from_costs(costs, self._noise(MANY_RESTARTS), found)

    def _noise(self, restarts: int) -> float:
        return noise.width(noise.ratios(self._start, self._threads, restarts))

    @contextmanager
    def _built(self, source: Candidate) -> Iterator[int]:
        """The descriptor of a library of our own, for the time of the block."""
        built = self._builder.build(source, BUILD_SECONDS)
        if built.product is None:
            raise InfraError(f"the compiler cannot build what the machine is calibrated with: {built.output}")
        descriptor = sealed_file("calibration.so", built.product)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
