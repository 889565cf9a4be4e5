"""Turns: one at a time, in fairness, given back by whoever dies."""

import os
import threading

from evaluator.device.turn import turn


def name(tmp_path):
    return f"\0kernelwright-test/{os.getpid()}/{tmp_path}"


def quiet(text):
    pass


def test_a_second_waits_and_says_so(tmp_path):
    said = []
    entered = threading.Event()

    def second():
        with turn(said.append, name(tmp_path)):
            entered.set()

    with turn(quiet, name(tmp_path)):
        waiter = threading.Thread(target=second)
        waiter.start()
        assert not entered.wait(0.2)
    waiter.join(10)
    assert entered.is_set()
    assert len(said) == 1


def test_who_waits_comes_before_who_has_just_had_it(tmp_path):
    order = []
    waiting = threading.Event()

    def other():
        with turn(lambda text: waiting.set(), name(tmp_path)):
            order.append("other")

    with turn(quiet, name(tmp_path)):
        waiter = threading.Thread(target=other)
        waiter.start()
        assert waiting.wait(10)
    with turn(quiet, name(tmp_path)):
        order.append("again")
    waiter.join(10)
    assert order == ["other", "again"]
