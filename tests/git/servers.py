"""Real git servers on loopback: ``git http-backend`` behind Python's own HTTP server, and ``git daemon``."""

import base64
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.git.repositories import ENVIRONMENT


@dataclass
class GitServer:
    """Serves every repository below ``root``. What it was asked and told is kept for tests to look at."""

    root: Path
    port: int = 0
    user: str | None = None
    password: str | None = None
    redirect: str | None = None
    gate: threading.Event = field(default_factory=threading.Event)
    """Packs are only sent while it is set."""
    pack_requested: threading.Event = field(default_factory=threading.Event)
    authorizations: list[str | None] = field(default_factory=list)

    def url(self, repository: str, userinfo: str = "") -> str:
        return f"http://{userinfo}{'@' if userinfo else ''}127.0.0.1:{self.port}/{repository}"


@contextmanager
def http_server(root: Path, **options) -> Iterator[GitServer]:
    """Serve over smart HTTP; with ``user`` and ``password``, to nobody else."""
    server = GitServer(root, **options)
    server.gate.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, *args: object) -> None:
            """Be silent."""

        def do_GET(self) -> None:
            _answer(self, server)

        do_POST = do_GET  # noqa: N815  # the name that the base class looks up

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.gate.set()
        http.shutdown()
        thread.join()
        http.server_close()


def _answer(request: BaseHTTPRequestHandler, server: GitServer) -> None:
    server.authorizations.append(request.headers.get("Authorization"))
    if server.redirect is not None:
        request.send_response(301)
        request.send_header("Location", server.redirect + request.path)
        request.end_headers()
        return
    if server.user is not None:
        wanted = base64.b64encode(f"{server.user}:{server.password}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {wanted}":
            request.send_response(401)
            request.send_header("WWW-Authenticate", 'Basic realm="test"')
            request.end_headers()
            return
    path, _, query = request.path.partition("?")
    body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
    if path.endswith("/git-upload-pack") and b"want " in body:
        server.pack_requested.set()
        server.gate.wait(60)
    done = subprocess.run(
        ["git", "http-backend"],
        input=body,
        capture_output=True,
        env={
            **ENVIRONMENT,
            "GIT_PROJECT_ROOT": str(server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        },
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
    try:
        request.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(content)
    except OSError:
        return  # the client was killed


@contextmanager
def git_daemon(root: Path) -> Iterator[str]:
    """Serve over the git protocol; gives the URL of the root."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        "git",
        "daemon",
        "--reuseaddr",
        "--export-all",
        f"--base-path={root}",
        "--listen=127.0.0.1",
        f"--port={port}",
    ]
    process = subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, 15)
        process.wait()
