"""A runner with its arenas: the reference, a baseline or the candidate, ready to be called on a workload.

Knows where outputs are, whichever way the code returns them, and reads them: the sample inside the clock, the
whole after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from evaluator.device.cpu import same_bytes
from evaluator.evaluation import Verdict
from evaluator.harness.tensors import CONVERTED, DTYPES
from evaluator.harness.wire import (
    Bind,
    Construct,
    Constructed,
    Discard,
    Done,
    Load,
    Located,
    Matched,
    Outcome,
    SetState,
    Unbind,
)
from evaluator.judge.arena import Arena, Input, TensorSpec, contiguous_strides
from evaluator.judge.client import Released, RunnerClient
from evaluator.judge.faults import Fault, of_exit
from evaluator.judge.state import StateArena
from evaluator.problem.contract import Timeouts
from sandbox.api import MemoryUnreadable, ProcessGone

MAX_DIMENSIONS = 64
MAX_EXTENT = 1 << 40
MOST_BYTES = 1 << 36


@dataclass
class Place:
    """One binding: an arena, its number in the runner, and what the outputs must look like (None: not known yet).

    `changed` are the inputs that the call may change in the arena: outputs, too, after those it returns. `checked`
    is the description of outputs that was last found to be in order.
    """

    number: int
    arena: Arena
    specs: tuple[TensorSpec, ...] | None
    mutable: tuple[int, ...]
    changed: tuple[torch.Tensor, ...]
    previous: tuple[tuple[Located, torch.Tensor], ...] = ()
    checked: Outcome | None = None


@dataclass(frozen=True)
class Answer:
    """A call and what came of it: whole outputs and then changed inputs at their dtype, the sample's tensors, and
    what was noticed besides values."""

    released: Released
    outputs: tuple[torch.Tensor, ...]
    sampled: tuple[torch.Tensor, ...]
    damage: str
    reused: str


class Seat:
    """One foreign implementation in its runner. Of tensors that it names, at most `memory_bytes` are read at once."""

    def __init__(
        self,
        client: RunnerClient,
        timeouts: Timeouts,
        variant: str = "plain",
        memory_bytes: int = MOST_BYTES,
    ) -> None:
        self.client = client
        self.timeouts = timeouts
        self.variant = variant
        self.memory_bytes = memory_bytes
        self.style = ""
        self.tampered: tuple[str, ...] = ()
        self._places: dict[str, Place] = {}
        self._number = 0

    def load(self, load: Load, library: Sequence[int] = ()) -> None:
        """Import the code. Raises Fault."""
        done = self.client.request(load, Done, self.timeouts.load, library)
        self.style = done.style
        self.tampered += done.tampered

    def construct(self, key: str, init: str | None, seed: int) -> Constructed:
        """Make an instance. Raises Fault."""
        return self.client.request(Construct(key, init, seed), Constructed, self.timeouts.load)

    def discard(self, key: str) -> None:
        """Let an instance go that no workload is bound to. Raises Fault."""
        self.client.request(Discard(key), Done, self.timeouts.load)

    def set_state(self, key: str, state: StateArena) -> tuple[str, ...]:
        """Give an instance its weights; the names it took."""
        message = SetState(key, state.memory.size, state.names, state.slots)
        return self.client.request(message, Matched, self.timeouts.load, [state.memory.descriptor]).names

    def bind(
        self,
        workload: str,
        key: str,
        values: Sequence[Input],
        inputs: Sequence[TensorSpec | None],
        outputs: Sequence[TensorSpec] | None,
        mutable: Sequence[int] = (),
        variant: str = "",
    ) -> None:
        """Make an arena for a workload and hand it over. A workload bound before is let go.

        outputs: what must be returned (None where that is not known yet); mutable: the inputs, by place, that the
        call may change.
        """
        self.release(workload)
        written = [TensorSpec(o.shape, contiguous_strides(o.shape), o.dtype) for o in outputs or ()]
        arena = Arena(inputs, written if self.style == "destination" else ())
        self._number += 1
        message = Bind(
            self._number,
            key,
            variant or self.variant,
            arena.size,
            arena.arguments(values),
            tuple(arena.output_slots),
            tuple(mutable),
        )
        in_place = () if message.variant in CONVERTED else mutable
        specs = None if outputs is None else tuple(outputs)
        changed = tuple(t for t in (arena.inputs[i] for i in in_place) if t is not None)
        self._places[workload] = Place(self._number, arena, specs, tuple(mutable), changed)
        arena.fill(values)
        done = self.client.request(message, Done, self.timeouts.load, [arena.memory.descriptor])
        self.tampered += done.tampered

    def number(self, workload: str) -> int:
        """The runner's number of a workload's binding."""
        return self._places[workload].number

    def release(self, workload: str) -> None:
        """Give a workload's arena up."""
        place = self._places.pop(workload, None)
        if place is not None:
            place.arena.close()
            self.client.request(Unbind(place.number), Done, self.timeouts.load)

    def time(
        self,
        workload: str,
        values: Sequence[Input],
        samples: Sequence[torch.Tensor],
        warm_up: bool = False,
    ) -> Released:
        """One released call on fresh values, of which only a sample of the outputs is read, inside the clock.

        `samples` are flat indices per output, or none. Raises Fault for outputs of a wrong number, shape, dtype,
        type or layout, and for an address that cannot be read.
        """
        place = self._places[workload]
        place.previous = ()  # what lay there may be gone when it is looked at again
        with self._blamed():
            return self._released(place, values, samples, warm_up)

    def call(
        self,
        workload: str,
        values: Sequence[Input],
        samples: Sequence[torch.Tensor],
        warm_up: bool = False,
    ) -> Answer:
        """As `time`, then everything about the outputs but their truth: all of them, and what else was written."""
        place = self._places[workload]
        with self._blamed():
            released = self._released(place, values, samples, warm_up)
            reused = self._reused(place)
            outputs = self._outputs(place, released.outcome)
        sampled = tuple(_typed(b, o.dtype) for b, o in zip(released.sample, outputs, strict=False))
        return Answer(released, outputs, sampled, place.arena.damage(place.mutable), reused)

    def _released(
        self, place: Place, values: Sequence[Input], samples: Sequence[torch.Tensor], warm_up: bool
    ) -> Released:
        timeout = self.timeouts.warm_up if warm_up else self.timeouts.call

        def sampler(outcome: Outcome) -> list[bytes]:
            return self._sample(place, outcome, samples)

        return self.client.call(
            place.number, lambda: place.arena.fill(values), sampler, timeout, urgent=not warm_up
        )

    def check_readable(self, tensors: Sequence[Located]) -> None:
        """Whether tensors are described so that they can be read, and need not more memory than the contract allows.

        Raises Fault.
        """
        for at in tensors:
            _check_described(at)
        if (wanted := sum(map(_bytes, tensors))) > self.memory_bytes:
            raise Fault(
                Verdict.RESOURCE_LIMIT,
                f"tensors of {wanted >> 20} MiB; the contract allows {self.memory_bytes >> 20} MiB of memory",
            )

    def read(self, at: Located) -> torch.Tensor:
        """A tensor that lies in the runner, as it is now; described as `check_readable` wants. Raises Fault."""
        with self._blamed():
            return _strided(self._read(at), at)

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """An address that cannot be read is the fault of who named it, an end while reading of who ended."""
        try:
            yield
        except MemoryUnreadable as e:
            raise Fault(Verdict.INTEGRITY, f"a tensor lies where nothing can be read: {e}") from None
        except ProcessGone as e:
            raise of_exit(e.status, self.client.process.output()[1]) from None

    def _sample(self, place: Place, outcome: Outcome, samples: Sequence[torch.Tensor]) -> list[bytes]:
        if self.style == "destination":
            here = (*place.arena.outputs, *place.changed)
            return [_gather(t, i) for t, i in zip(here, samples, strict=False)]
        if outcome is not place.checked:
            self.check_readable(outcome.outputs)
            if place.specs is not None:
                _check(outcome.outputs, place.specs)
            place.checked = outcome
        there = [self._peek(at, i) for at, i in zip(outcome.outputs, samples, strict=False)]
        return there + [_gather(t, i) for t, i in zip(place.changed, samples[len(there) :], strict=False)]

    def _peek(self, at: Located, indices: torch.Tensor) -> bytes:
        size = DTYPES[at.dtype].itemsize
        offsets = _offsets(indices, at.shape, at.strides)
        return self.client.process.read_memory([(at.address + o * size, size) for o in offsets])

    def _outputs(self, place: Place, outcome: Outcome) -> tuple[torch.Tensor, ...]:
        changed = tuple(t.clone() for t in place.changed)
        if self.style == "destination":
            return tuple(t.clone() for t in place.arena.outputs) + changed
        read = tuple((at, self._read(at)) for at in outcome.outputs)
        place.previous = read
        return tuple(_strided(flat, at) for at, flat in read) + changed

    def _read(self, at: Located) -> torch.Tensor:
        dtype = DTYPES[at.dtype]
        span = TensorSpec(at.shape, at.strides, at.dtype).span
        flat = torch.empty(span, dtype=torch.uint8)
        if span:
            self.client.process.read_memory_into(at.address, flat.numpy().data)
        return flat.view(dtype)

    def _reused(self, place: Place) -> str:
        """Whether the outputs of the call before are no longer what they were (the runner still holds them)."""
        for number, (at, before) in enumerate(place.previous):
            if not same_bytes(self._read(at), before):
                return f"output {number} of the call before was overwritten: results must stay as they are"
        return ""

    def leave(self) -> None:
        """Stop serving. Raises Fault where the process says that it was tampered with."""
        self.tampered += self.client.leave(self.timeouts.call)
        if self.tampered:
            names = ", ".join(dict.fromkeys(self.tampered))
            raise Fault(Verdict.INTEGRITY, f"replaced functions of its process: {names}")

    def close(self) -> None:
        """End the runner and free its arenas."""
        self.client.close()
        for place in self._places.values():
            place.arena.close()
        self._places.clear()


def _check(outputs: Sequence[Located], specs: Sequence[TensorSpec]) -> None:
    """The number, shapes, dtypes, strides and exact types of outputs. Raises Fault."""
    if len(outputs) != len(specs):
        raise Fault(Verdict.INCORRECT, f"returned {len(outputs)} outputs, the reference returns {len(specs)}")
    for number, (at, spec) in enumerate(zip(outputs, specs, strict=True)):
        if at.shape != spec.shape:
            raise Fault(
                Verdict.INCORRECT, f"output {number} has shape {list(at.shape)}, not {list(spec.shape)}"
            )
        if at.dtype != spec.dtype:
            raise Fault(Verdict.INCORRECT, f"output {number} is {at.dtype}, not {spec.dtype}")
        if _relevant(at.shape, at.strides) not in (
            _relevant(at.shape, spec.strides),
            _relevant(at.shape, contiguous_strides(at.shape)),
        ):
            raise Fault(
                Verdict.INCORRECT, f"output {number} has strides {list(at.strides)}, not {list(spec.strides)}"
            )
        if not at.exact:
            raise Fault(Verdict.INTEGRITY, f"output {number} is not a plain torch.Tensor")


def _check_described(at: Located) -> None:
    if at.dtype not in DTYPES or len(at.shape) != len(at.strides) or len(at.shape) > MAX_DIMENSIONS:
        raise Fault(Verdict.INTEGRITY, "a tensor is described in no known form")
    if not all(0 <= n <= MAX_EXTENT for n in (*at.shape, *at.strides)):
        raise Fault(Verdict.INTEGRITY, "a tensor has an impossible size or stride")


def _bytes(at: Located) -> int:
    """What reading a tensor takes: its elements or, where they lie far apart, its span."""
    whole = math.prod(at.shape) * DTYPES[at.dtype].itemsize
    return max(whole, TensorSpec(at.shape, at.strides, at.dtype).span)


def _relevant(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """Strides of the dimensions in which they matter."""
    return tuple(s for n, s in zip(shape, strides, strict=True) if n > 1) if 0 not in shape else ()


def _offsets(indices: torch.Tensor, shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Element offsets of flat (row-major) indices in a strided tensor."""
    if tuple(strides) == contiguous_strides(shape):
        return indices.tolist()
    offsets = torch.zeros_like(indices)
    rest = indices
    for n, s in zip(reversed(shape), reversed(strides), strict=True):
        if n > 1:  # else its stride means nothing, and may be any number
            offsets += rest % n * s
            rest = rest // n
    return offsets.tolist()


def _gather(tensor: torch.Tensor, indices: torch.Tensor) -> bytes:
    return torch.take(tensor, indices).view(torch.uint8).numpy().tobytes()


def _typed(sampled: bytes, dtype: torch.dtype) -> torch.Tensor:
    return torch.frombuffer(bytearray(sampled), dtype=dtype) if sampled else torch.empty(0, dtype=dtype)


def _strided(flat: torch.Tensor, at: Located) -> torch.Tensor:
    if 0 in at.shape:
        return torch.empty(at.shape, dtype=flat.dtype)
    return flat.as_strided(at.shape, [s if n > 1 else 1 for n, s in zip(at.shape, at.strides, strict=True)])
