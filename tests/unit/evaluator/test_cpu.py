"""Shared memory: what whoever is handed its descriptor can and cannot do to it."""

import mmap
import os
import resource

import pytest

from evaluator.device.cpu import SharedMemory, sealed_file

PAGE = mmap.PAGESIZE


@pytest.fixture
def memory():
    with SharedMemory("test", 3 * PAGE) as memory:
        yield memory


@pytest.fixture
def read_only():
    with SharedMemory("test", PAGE, theirs_to_write=False) as memory:
        memory.bytes.fill_(7)
        yield memory


@pytest.mark.parametrize("size", [0, PAGE, 4 * PAGE])
def test_nobody_can_resize_it(memory, size):
    with pytest.raises(PermissionError):
        os.ftruncate(memory.descriptor, size)


def test_what_is_written_there_is_seen_here(memory):
    with mmap.mmap(memory.descriptor, PAGE) as theirs:
        theirs[5] = 9
    assert memory.bytes[5] == 9


def test_theirs_to_read_cannot_be_mapped_to_write(read_only):
    with pytest.raises(PermissionError):
        mmap.mmap(read_only.descriptor, PAGE, mmap.MAP_SHARED)
    with pytest.raises(PermissionError):
        os.pwrite(read_only.descriptor, b"x", 0)


def test_a_copy_of_their_own_stays_their_own(read_only):
    with mmap.mmap(read_only.descriptor, PAGE, mmap.MAP_PRIVATE) as theirs:
        assert theirs[0] == 7
        theirs[0] = 1
    assert read_only.bytes[0] == 7
    read_only.bytes[0] = 8
    assert read_only.bytes[0] == 8


def test_a_sealed_file_that_cannot_be_written_leaves_no_descriptor():
    before = os.listdir("/proc/self/fd")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match="large"):
            sealed_file("test", bytes(8192))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir("/proc/self/fd") == before


def test_a_sealed_file_stays_as_it_is():
    descriptor = sealed_file("test", b"code")
    try:
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"x", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, 0)
        assert os.pread(descriptor, 8, 0) == b"code"
    finally:
        os.close(descriptor)
