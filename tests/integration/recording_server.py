"""A server on loopback that greets, answers every line, and remembers what reached it when: lines,
and ends of connections.
"""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDED = "(ended)"  # not a line: an end of a connection


class RecordingServer(socketserver.ThreadingTCPServer):
    """`220` at the start of a connection, `250 <line>` for each line."""

    daemon_threads = True

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", 0), _Conversation)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def note(self, line: str) -> None:
        with self._changed:
            self._lines.append(line)
            self._changed.notify_all()

    def got(self, line: str, within_seconds: float) -> bool:
        """Whether that line has come, or comes in time."""
        with self._changed:
            return self._changed.wait_for(lambda: line in self._lines, within_seconds)


class _Conversation(socketserver.StreamRequestHandler):
    server: RecordingServer

    def handle(self) -> None:
        try:
            self.wfile.write(b"220 recording\r\n")
            for raw in self.rfile:
                line = raw.decode().strip()
                self.server.note(line)
                self.wfile.write(f"250 {line}\r\n".encode())
        except OSError:
            pass  # the proxy dropped it, which is what is being measured
        self.server.note(ENDED)


@contextmanager
def recording() -> Iterator[RecordingServer]:
    with RecordingServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(5)
