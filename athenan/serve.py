"""The web page's server: plain files and one line of messages for each visitor.

Nothing of the machine is sent but what the page needs; nobody can use it up: visitors, messages,
searches and their time and memory have limits, and who is refused is told why."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import socket
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from athenan.errors import InputError
from athenan.house import House
from athenan.search import search_type
from athenan.settings import ServeSettings
from athenan.visit import Visit

PAGE = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
LARGEST_MESSAGE = 16 * 1024  # bytes of a visitor's
MOST_WAITING = 64  # messages to a visitor who does not read
THREADS = 64  # of short works for visitors
BURST = 3  # seconds of the usual rate that may come at once
LAST_WORDS_SECONDS, SLOW_SECONDS = 2.0, 30.0  # that somebody may take to read
UNREAD = "You do not read what you are sent."
TRY_LATER, AGAINST_RULES = 1013, 1008  # codes of websockets
NAMES = ("localhost", "127.0.0.1", "::1")


def is_own_name(header: str, config: ServeSettings) -> bool:
    """Whether a browser that calls us so means us. Another site may give its own name our address,
    to read with a visitor's browser what is meant for him; numbers cannot be given so."""
    name = header.rpartition(":")[0] if header.count(":") == 1 or "]:" in header else header
    name = name.strip("[]").rstrip(".").lower()
    if name in (*NAMES, config.host.lower(), *(own.lower() for own in config.names)):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return config.host not in NAMES


class Outbox:
    """What a visitor is still to be sent. Of several thoughts of one side the last is enough."""

    def __init__(self) -> None:
        self._waiting: deque[dict[str, Any]] = deque()
        self._there = asyncio.Event()
        self.full = False

    def put(self, message: dict[str, Any]) -> None:
        if message["type"] == "thought":
            for i, other in enumerate(self._waiting):
                if other["type"] == "thought" and other["side"] == message["side"]:
                    del self._waiting[i]
                    break
        if len(self._waiting) >= MOST_WAITING:
            self.full = True
        else:
            self._waiting.append(message)
        self._there.set()

    async def take(self) -> dict[str, Any]:
        while not self._waiting:
            self._there.clear()
            await self._there.wait()
        return self._waiting.popleft()


class Rate:
    """So many a second, and a few at once."""

    def __init__(self, a_second: float) -> None:
        self.a_second, self.left, self.at = a_second, BURST * a_second, time.monotonic()

    def allows(self) -> bool:
        now = time.monotonic()
        self.left = min(BURST * self.a_second, self.left + (now - self.at) * self.a_second)
        self.at = now
        self.left -= 1
        return self.left >= 0


async def refuse(socket_: Any, code: int, sentence: str) -> None:
    """Who is gone, or does not read, is not waited for."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(LAST_WORDS_SECONDS):
            await socket_.send_text(json.dumps({"type": "refused", "sentence": sentence}))
            await socket_.close(code, sentence)


async def deliver(socket_: Any, outbox: Outbox) -> str:
    """Sends what there is; why it goes no further."""
    while True:
        message = await outbox.take()
        text = json.dumps(message, allow_nan=False, default=str)
        try:
            async with asyncio.timeout(SLOW_SECONDS):
                await socket_.send_text(text)
        except TimeoutError:
            return UNREAD


async def listen(socket_: Any, visit: Visit, outbox: Outbox, config: ServeSettings) -> str:
    """Does what the visitor says; why he is not heard any more."""
    rate = Rate(config.messages)
    while True:
        try:
            async with asyncio.timeout(60 * config.idle_minutes):
                said = await socket_.receive_text()
        except TimeoutError:
            return "You have said nothing for long."
        except KeyError:  # bytes
            return "Messages are texts."
        if not rate.allows():
            return "That is too many messages at once."
        if outbox.full:
            return UNREAD
        if len(said) > LARGEST_MESSAGE:
            return "That message is too long."
        try:
            message = json.loads(said)
        except (ValueError, RecursionError):
            message = None
        await visit.hear(message)


def make_app(config: ServeSettings) -> Any:
    """The application, for uvicorn or a test."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route, WebSocketRoute
    from starlette.websockets import WebSocket, WebSocketDisconnect

    house = House(config)
    files = {
        path.name: (path.read_bytes(), TYPES[path.suffix])
        for path in sorted(PAGE.iterdir())
        if path.suffix in TYPES
    }

    async def page(request: Request) -> Response:
        if not is_own_name(request.headers.get("host", ""), config):
            return PlainTextResponse(
                "This page is not served under that name; names=[…] adds one.\n", 421, HEADERS
            )
        name = request.path_params.get("name") or "index.html"
        if name not in files:
            return PlainTextResponse("There is nothing here.\n", 404, HEADERS)
        body, kind = files[name]
        return Response(body, headers={**HEADERS, "Content-Type": kind})

    async def line(socket_: WebSocket) -> None:
        await socket_.accept()
        host, origin = socket_.headers.get("host", ""), socket_.headers.get("origin")
        wrong = not is_own_name(host, config)
        if wrong or (origin is not None and origin.partition("://")[2] != host):
            await refuse(socket_, AGAINST_RULES, "Another site may not speak for a visitor.")
            return
        if house.visitors >= config.visitors:
            await refuse(
                socket_, TRY_LATER,
                f"There are {house.visitors} visitors already, as many as fit; try again later.",
            )  # fmt: skip
            return
        house.visitors += 1
        try:
            await receive(socket_)
        except (WebSocketDisconnect, RuntimeError):  # gone, or found gone by what is sent
            pass
        finally:
            house.visitors -= 1

    async def receive(socket_: WebSocket) -> None:
        outbox = Outbox()
        visit = Visit(house, outbox.put)
        tasks = {
            asyncio.create_task(deliver(socket_, outbox)),
            asyncio.create_task(listen(socket_, visit, outbox, config)),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks - done:
                task.cancel()
            await refuse(socket_, AGAINST_RULES, done.pop().result())
        finally:
            for task in tasks:
                task.cancel()
            await visit.leave()

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        # Loading a network takes its time, and nobody else is to wait for a thread meanwhile.
        with ThreadPoolExecutor(THREADS) as executor:
            asyncio.get_running_loop().set_default_executor(executor)
            yield

    return Starlette(
        routes=[
            Route("/", page),
            WebSocketRoute("/line", line),
            Route("/{name}", page),
        ],
        lifespan=lifespan,
    )


def serve(config: ServeSettings) -> None:
    """Until Ctrl-C."""
    try:
        import uvicorn
    except ImportError:
        raise InputError(
            "The page needs the extra 'serve': ./scripts/setup serve, or pip install "
            "athenan[serve]."
        ) from None
    search_type(config.search["name"])
    app = make_app(config)
    listener = listening(config)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"http://{shown if host not in ('0.0.0.0', '::') else 'localhost'}:{port}/", flush=True)
    if host in NAMES:
        print("for browsers on this machine alone; host=… lets others in; Ctrl-C ends it")
    else:
        print("for everybody who reaches this machine; Ctrl-C ends it")
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            ws="websockets-sansio",
            ws_max_size=4 * LARGEST_MESSAGE,
            ws_max_queue=8,
            limit_concurrency=4 * config.visitors + 100,
            timeout_graceful_shutdown=2,
            server_header=False,
        )
    )
    server.run(sockets=[listener])


def listening(config: ServeSettings) -> socket.socket:
    try:
        family = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0][0]
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((config.host, config.port))
        made.listen(2048)  # whoever reads the address may come at once
    except OSError as error:
        raise InputError(
            f"Nothing can listen on {config.host}, port {config.port}: {error.strerror}."
        ) from None
    return made
