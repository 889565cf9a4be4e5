"""A sandboxed process has no network, and nothing else to reach another by a socket."""

from __future__ import annotations

from tests.contracts.inside import Spawn, do, refused, value

NO_SOCKET = """
    opened = []
    for family in range(64):
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind)
                opened.append(family)
            except OSError:
                pass
    return opened
    """


class TestNetwork:
    def test_no_socket_of_any_family(self, spawn: Spawn) -> None:
        assert value(spawn("evaluate"), NO_SOCKET) == []

    def test_no_name_resolves(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for host in ("example.org", "localhost.localdomain"):
            assert do(process, f"return socket.getaddrinfo({host!r}, 80)").get("error") == "gaierror"

    def test_a_socketpair_works(self, spawn: Spawn) -> None:
        body = "a, b = socket.socketpair(); a.send(b'hello'); return b.recv(9).decode()"
        assert value(spawn("evaluate"), body) == "hello"

    def test_a_socketpair_reaches_nobody_else(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for address in ("'s'", "'\\0kernelwright'"):
            assert refused(process, f"socket.socketpair()[0].bind({address})")
            assert refused(process, f"socket.socketpair()[0].connect({address})")
        assert refused(process, "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)")

    def test_its_channel_cannot_be_turned_to_another_peer(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        for attempt in ("connect('s')", "bind('s')", "listen()", "accept()"):
            assert refused(process, f"socket.socket(fileno=os.dup(3)).{attempt}")
