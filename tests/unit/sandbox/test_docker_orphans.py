"""Whose containers may be removed: those of judges that are known to be gone."""

from __future__ import annotations

import os
import subprocess

from sandbox.docker_orphans import is_dead, new_owner


def test_owners_of_one_judge_differ_and_are_alive() -> None:
    first, second = new_owner(), new_owner()
    assert first != second
    assert not is_dead(first)
    assert not is_dead(second)


def test_a_judge_that_ended_is_dead() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    _, born, namespace, number = new_owner().split(".")
    assert is_dead(f"{ended.pid}.{born}.{namespace}.{number}")


def test_a_later_process_with_the_same_pid_is_another_judge() -> None:
    pid, born, namespace, number = new_owner().split(".")
    assert pid == str(os.getpid())
    assert is_dead(f"{pid}.{int(born) - 1}.{namespace}.{number}")


def test_nothing_is_known_of_a_judge_elsewhere() -> None:
    pid, born, namespace, number = new_owner().split(".")
    assert not is_dead(f"{pid}.{int(born) - 1}.{int(namespace) + 1}.{number}")
    assert not is_dead("somebody else's")
    assert not is_dead("")
