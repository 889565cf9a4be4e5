"""Building the root of a sandbox: runs in process 1, in a mount namespace of its own, before rights are dropped."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sandbox import syscalls as sc
from sandbox.spec import RootPlan

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SCRATCH = ("/tmp", "/dev/shm")

_BASE = "/tmp"  # exists everywhere; covered, in this namespace only, by the new root
_STAGING = ".scratch"
_EMPTY_FILE = "etc/.masked"
INODES = 1 << 16
_SYSTEM_ATTRIBUTES = sc.MOUNT_ATTR_RDONLY | sc.MOUNT_ATTR_NOSUID | sc.MOUNT_ATTR_NODEV
_DEVICE_ATTRIBUTES = sc.MOUNT_ATTR_RDONLY | sc.MOUNT_ATTR_NOSUID | sc.MOUNT_ATTR_NOEXEC


def build_root(plan: RootPlan, devices: Sequence[str], uid: int, gid: int) -> None:
    """Build the file system that `plan` describes and make it this process's root; the host's is gone.

    devices: nodes besides those that every sandbox has. uid, gid: whom the scratch folders belong to. Raises OSError.
    """
    sc.mount("none", "/", "none", sc.MS_REC | sc.MS_PRIVATE)
    trees = [
        (b.target, os.path.isdir(b.source), sc.clone_tree(b.source, _SYSTEM_ATTRIBUTES)) for b in plan.binds
    ]
    trees += [(d, False, sc.clone_tree(d, _DEVICE_ATTRIBUTES)) for d in (*DEVICES, *devices)]
    hidden = [(path, os.path.isdir(path)) for path in plan.masked]
    sc.mount("root", _BASE, "tmpfs", sc.MS_NOSUID | sc.MS_NODEV, "mode=0755,size=1m,nr_inodes=8192")
    os.chdir(_BASE)
    _lay_folders(plan, uid, gid)
    _mount_scratch(plan.scratch_bytes, uid, gid)
    for target, is_folder, tree in trees:
        _make_target(target, is_folder)
        sc.attach_tree(tree, _inside(target))
    sc.mount("proc", "proc", "proc", sc.MS_NOSUID | sc.MS_NODEV | sc.MS_NOEXEC)
    for path, is_folder in hidden:
        _mask(path, is_folder)
    sc.call("pivot_root", b".", b".")
    sc.call("umount2", b".", sc.MNT_DETACH)
    os.chdir("/")
    sc.set_mount_attributes("/", _SYSTEM_ATTRIBUTES)


def _inside(path: str) -> str:
    return path.lstrip("/")


def _lay_folders(plan: RootPlan, uid: int, gid: int) -> None:
    for name in ("proc", "dev", "etc", "dev/shm", "tmp", _STAGING):
        os.mkdir(name, 0o755)
    for link, text in plan.links.items():
        os.symlink(text, _inside(link))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"dev/{name}")
    os.symlink("/proc/self/fd", "dev/fd")
    _write(
        "etc/passwd",
        f"root:x:0:0:root:/nonexistent:/bin/false\nsandbox:x:{uid}:{gid}:sandbox:/tmp:/bin/sh\n",
    )
    _write("etc/group", f"root:x:0:\nsandbox:x:{gid}:\n")
    _write("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
    _write(_EMPTY_FILE, "")


def _write(name: str, text: str) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def _mount_scratch(size: int, uid: int, gid: int) -> None:
    """One bounded tmpfs, shown at every scratch place, so that the bound holds for all of them together."""
    options = f"mode=0755,size={max(size, 4096)},nr_inodes={INODES}"
    sc.mount("scratch", _STAGING, "tmpfs", sc.MS_NOSUID | sc.MS_NODEV, options)
    for number, place in enumerate(SCRATCH):
        part = f"{_STAGING}/{number}"
        os.mkdir(part, 0o700)
        os.chown(part, uid, gid)
        sc.attach_tree(sc.clone_tree(part, sc.MOUNT_ATTR_NOSUID | sc.MOUNT_ATTR_NODEV), _inside(place))
    sc.call("umount2", _STAGING.encode(), sc.MNT_DETACH)
    os.rmdir(_STAGING)


def _make_target(target: str, is_folder: bool) -> None:
    path = _inside(target)
    if is_folder:
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _mask(path: str, is_folder: bool) -> None:
    target = _inside(path)
    if is_folder:
        flags = sc.MS_RDONLY | sc.MS_NOSUID | sc.MS_NODEV | sc.MS_NOEXEC
        sc.mount("masked", target, "tmpfs", flags, "mode=0555,size=4k,nr_inodes=2")
    else:
        sc.attach_tree(sc.clone_tree(_EMPTY_FILE, _SYSTEM_ATTRIBUTES), target)
