"""The runner: loads foreign code and makes calls when told. The only process in which that code runs.

It holds the inputs of the moment and nothing else: no clock that counts, no expected output, no verdict. What it
answers is a hint to the judge, never evidence.
"""

from __future__ import annotations

import ast
import copy
import json
import mmap
import os
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch

from evaluator.harness import abi, loading, page
from evaluator.harness.heap import keep_freed_memory
from evaluator.harness.tensors import CONVERTED, argument, at, located, map_arena, outputs_of
from evaluator.harness.trace import trace
from evaluator.harness.tripwire import Tripwire
from evaluator.harness.wire import (
    Bind,
    Construct,
    Constructed,
    Discard,
    Done,
    Draw,
    Drawn,
    Failed,
    Load,
    Located,
    Matched,
    Outcome,
    Scalar,
    Serve,
    SetState,
    State,
    Trace,
    Traced,
    Unbind,
    decode,
    encode,
)

TRACEBACK_CHARACTERS = 4000
COMPILED = {"compile": "default", "compile_max": "max-autotune"}
"""Variants of a call that torch.compile makes, with its mode."""
KEPT_RESULTS = 2
KEPT_BODIES = 8

Argument = torch.Tensor | int | float | bool


class Channel(Protocol):
    """The runner's end of the channel to the judge."""

    def send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        """One message."""

    def receive(self, timeout: float | None = None) -> tuple[dict[str, object], list[int]]:
        """The next message and its descriptors."""
        ...


class Instance:
    """One constructed module, or the bare function, with the state it was given."""

    def __init__(self, target: Callable[..., object], module: torch.nn.Module | None) -> None:
        self.target = target
        self.module = module
        self.state: dict[str, torch.Tensor] = {}


class Binding:
    """A call with its arguments in place. `returns` is false where it may return nothing: it writes its result."""

    def __init__(
        self, call: Callable[[], object], inputs: list[Argument], instance: Instance, returns: bool
    ) -> None:
        self.call = call
        self.inputs = inputs
        self.instance = instance
        self.returns = returns
        self.results: deque[tuple[torch.Tensor, ...]] = deque(maxlen=KEPT_RESULTS)


@dataclass(frozen=True)
class Reply:
    """A reply that takes descriptors along. They are closed once it was sent."""

    message: object
    descriptors: tuple[int, ...]


class Runner:
    """Carries out requests. One per process. Foreign files are laid into `folder`, by default the sandbox's."""

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder or loading.candidate_folder()
        self.tripwire = Tripwire()
        self.instances: dict[str, Instance] = {}
        self.bindings: dict[int, Binding] = {}
        self.drawn: list[torch.Tensor | Scalar] = []
        self._bodies: dict[tuple[Located, ...], bytes] = {}

    def handle(self, request: object, descriptors: list[int]) -> object:
        """Carry out one request; the reply. Lets the foreign code's exceptions through."""
        return self.handlers()[type(request)](request, descriptors)

    def handlers(self) -> Mapping[type, Callable[[Any, list[int]], object]]:
        """What carries out which request."""
        return {
            Load: self.load,
            Construct: self.construct,
            SetState: self.set_state,
            Draw: self.draw,
            Bind: self.bind,
            Unbind: self.unbind,
            Discard: self.discard,
            Trace: self.trace,
            Serve: self.serve,
        }

    def memory(self, descriptor: int, size: int, shared: bool = True) -> torch.Tensor:
        """The memory behind a descriptor, as `map_arena` gives it."""
        return map_arena(descriptor, size, shared)

    def located(self, tensor: torch.Tensor) -> Located:
        """Where a tensor lies. Raises TypeError for one that lies elsewhere than this runner's memory."""
        return located(tensor)

    def load(self, load: Load, descriptors: list[int]) -> Done:
        self.request = load
        torch.set_num_threads(load.threads)
        os.environ["OMP_NUM_THREADS"] = str(load.threads)
        self.takes_state = False
        if load.library:
            self.library = loading.open_library(descriptors[0], self.folder)
            getattr(self.library, load.entry)
            self.style = "destination"
            return Done(self.tripwire.changed(), self.style)
        if descriptors:
            loading.unpack(descriptors[0], loading.scratch())
        loading.lay_down(load.files, self.folder)
        self.module = loading.import_main(load.main, self.folder)
        self.target = getattr(self.module, load.entry)
        self.style = load.style
        if load.style != "module":
            self.style, self.takes_state = loading.style_of(self.target, load)
        return Done(self.tripwire.changed(), self.style)

    def construct(self, construct: Construct, _: list[int]) -> Constructed:
        if self.style != "module":
            target = None if self.request.library else self.target
            self.instances[construct.key] = Instance(cast("Callable[..., object]", target), None)
            return Constructed((), "[]")
        init = self._init_literal() if construct.init is None else construct.init
        torch.manual_seed(construct.seed)
        module = loading.construct(self.target, ast.literal_eval(init))
        instance = self.instances[construct.key] = Instance(module, module)
        parameters = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        instance.state = dict(module.state_dict(keep_vars=True))
        return Constructed(
            tuple(State(n, self.located(t.detach()), n in parameters) for n, t in instance.state.items()),
            init,
        )

    def _init_literal(self) -> str:
        init = self.module.get_init_inputs()
        text = repr(init)
        try:
            same = ast.literal_eval(text) == init
        except (ValueError, SyntaxError):
            same = False
        if not same:
            raise TypeError(
                "get_init_inputs gives something other than numbers, strings and containers of them"
            )
        return text

    def set_state(self, request: SetState, descriptors: list[int]) -> Matched:
        arena = self.memory(descriptors[0], request.size, shared=False)
        given = {n: at(arena, s) for n, s in zip(request.names, request.slots, strict=True)}
        instance = self.instances[request.key]
        if instance.module is None:
            instance.state = given
            return Matched(tuple(given))
        own = instance.module.state_dict(keep_vars=True)
        matched = [n for n, t in given.items() if n in own and own[n].shape == t.shape]
        with torch.no_grad():
            for name in matched:
                own[name].copy_(given[name])
        return Matched(tuple(matched))

    def draw(self, request: Draw, _: list[int]) -> Drawn:
        torch.manual_seed(request.seed)
        self.drawn = [argument(v) for v in self.module.get_inputs()]
        self.drawn = [v.detach().contiguous() if isinstance(v, torch.Tensor) else v for v in self.drawn]
        return Drawn(tuple(self.located(v) if isinstance(v, torch.Tensor) else v for v in self.drawn))

    def bind(self, request: Bind, descriptors: list[int]) -> Done:
        arena = self.memory(descriptors[0], request.size)
        inputs = [a.value if isinstance(a, Scalar) else at(arena, a) for a in request.inputs]
        outputs = [at(arena, s) for s in request.outputs]
        instance = self.instances[request.key]
        call = self._call(request, instance, inputs, outputs)
        returns = self.style != "destination" and not request.mutates
        self.bindings[request.number] = Binding(call, inputs, instance, returns)
        return Done(self.tripwire.changed(), self.style)

    def _call(
        self, request: Bind, instance: Instance, inputs: list[Argument], outputs: list[torch.Tensor]
    ) -> Callable[[], object]:
        if self.request.library:
            tensors = [a if isinstance(a, torch.Tensor) else _rank_zero(a) for a in inputs]
            state = list(instance.state.values())
            return abi.bind(self.library, self.request.entry, self.request.threads, tensors, state, outputs)
        state = list(instance.state.values()) if self.takes_state else []
        if self.style == "destination":
            arguments = [*inputs, *state, *outputs]
            return lambda: (instance.target(*arguments), None)[1]
        if request.variant in CONVERTED:
            return _converted(instance, inputs, request.mutates, CONVERTED[request.variant])
        target = instance.target
        if request.variant in COMPILED:
            mode = COMPILED[request.variant]
            target = cast("Callable[..., object]", torch.compile(target, dynamic=False, mode=mode))
        arguments = [*inputs, *state]
        return lambda: target(*arguments)

    def unbind(self, request: Unbind, _: list[int]) -> Done:
        del self.bindings[request.number]
        return Done()

    def discard(self, request: Discard, _: list[int]) -> Done:
        del self.instances[request.key]
        return Done()

    def trace(self, request: Trace, _: list[int]) -> Traced:
        binding = self.bindings[request.number]
        target = binding.instance.module or binding.instance.target
        graph = trace(target, binding.inputs, {n: t.detach() for n, t in binding.instance.state.items()})
        return Traced(json.dumps(graph))

    def serve(self, _: Serve, descriptors: list[int]) -> Done:
        memory = mmap.mmap(descriptors[0], page.PAGE_BYTES)
        os.close(descriptors[0])
        words = memoryview(memory).cast("Q")
        text = memoryview(memory)[page.TEXT :]
        number = words[page.DONE]
        with torch.no_grad():
            while (go := words[page.GO]) != page.LEAVE:
                if go == number + 1:
                    words[page.STATUS], body = self._outcome(words[page.BINDING])
                    text[: len(body)] = body
                    words[page.LENGTH] = len(body)
                    words[page.DONE] = number = go
        return Done(self.tripwire.changed(), self.style)

    def _outcome(self, binding: int) -> tuple[int, bytes]:
        try:
            made = self.bindings[binding]
            result = made.call()
            tensors = () if result is None and not made.returns else outputs_of(result)
            body = self._described(tuple(map(self.located, tensors)))
        except BaseException as e:
            return page.RAISED, json.dumps(encode(failure(e))).encode()[: page.TEXT_BYTES]
        made.results.append(tensors)
        return page.RETURNED, body

    def _described(self, outputs: tuple[Located, ...]) -> bytes:
        """An Outcome as JSON. Those made last are kept: outputs lie in the same few places again and again."""
        body = self._bodies.get(outputs)
        if body is None:
            body = json.dumps(encode(Outcome(outputs))).encode()
            if len(body) > page.TEXT_BYTES:
                raise ValueError(f"returned {len(outputs)} tensors, more than can be described")
            if len(self._bodies) >= KEPT_BODIES:
                self._bodies.clear()
            self._bodies[outputs] = body
        return body


def _rank_zero(value: float | int | bool) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


def _converted(
    instance: Instance, inputs: list[Argument], mutates: Sequence[int], dtype: torch.dtype
) -> Callable[[], object]:
    """The same call in another dtype: a copy of the module and floating inputs converted; those that it may
    change are returned, too."""
    target = instance.target if instance.module is None else copy.deepcopy(instance.module).to(dtype)

    def call() -> object:
        converted = [
            a.to(dtype, copy=True) if isinstance(a, torch.Tensor) and a.is_floating_point() else a
            for a in inputs
        ]
        result = target(*converted)
        return (() if result is None else outputs_of(result)) + tuple(converted[i] for i in mutates)

    return call


def failure(error: BaseException) -> Failed:
    """What the judge is told of an exception of foreign code."""
    text = "".join(traceback.format_exception(error))
    return Failed(type(error).__name__[:80], text[-TRACEBACK_CHARACTERS:])


def main(channel: Channel) -> None:
    """Serve requests until the judge hangs up."""
    keep_freed_memory()
    requests = (Load, Construct, SetState, Draw, Bind, Unbind, Discard, Trace, Serve)
    answer(channel, Runner(), lambda message: decode(message, *requests))


def answer(channel: Channel, runner: Runner, read: Callable[[object], object]) -> None:
    """Carry out what comes, as `read` decodes it. The broad catch is this process's edge."""
    while True:
        try:
            message, descriptors = channel.receive(None)
        except EOFError:
            return
        request = read(message)
        try:
            reply = runner.handle(request, descriptors)
        except BaseException as e:
            reply = failure(e)
        sent = reply if isinstance(reply, Reply) else Reply(reply, ())
        channel.send(encode(sent.message), sent.descriptors)
        for descriptor in sent.descriptors:
            os.close(descriptor)
