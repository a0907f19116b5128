"""`almanac serve`: serves homes over HTTP, or to one model client on standard input and output."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import field_validator

from flows import terminal
from flows.jobs import Call, Configured, finer, operand, option, switch
from schemas.errors import UsageError

if TYPE_CHECKING:
    from schemas.settings import Settings
    from tasks.service.server import Serving
    from warehouse.home import Home


class Serve(Configured):
    """Serve an almanac over HTTP: JSON, pages and MCP; or MCP by pipes, to one client."""

    homes: list[str] = operand(
        "NAME=DIR", "Homes by name, the first of which is meant without a name (--home).", []
    )
    mcp: bool = switch("Serve MCP on standard input and output, for a client on this machine.")
    host: str = option(
        "ADDRESS", "Where to listen; beyond this machine, tokens and TLS are needed.", "127.0.0.1"
    )
    port: int = option("N", "The port; 0 takes a free one.", 8080, ge=0, le=65_535)
    tls_cert: Path | None = option("FILE", "The certificate, PEM (none).", None)
    tls_key: Path | None = option("FILE", "Its private key, PEM (none).", None)
    behind_proxy: bool = finer("Whether a proxy in front adds TLS.")
    allow_host: list[str] = finer("Names under which it is reached, beside localhost.", [])
    threads: int = finer(
        "Questions answered at once; each thread needs memory of its own.", 1, ge=1, le=64
    )
    waiting: int = finer("Questions that may wait.", 64, ge=0)
    rate: float = finer("Requests per second and token.", 50.0, gt=0)
    burst: int = finer("Requests per token that may come at once.", 100, ge=1)

    @field_validator("homes")
    @classmethod
    def _are_named(cls, homes: list[str]) -> list[str]:
        """Refuse homes without a name, and a name given twice."""
        names = [home.partition("=")[0] for home in homes]
        if any("=" not in home for home in homes) or "" in names:
            raise ValueError("name each home, as in films=/data/films")
        if len(set(names)) < len(names):
            raise ValueError("each home needs a name of its own")
        return homes

    def run(self, call: Call) -> int:
        """Serve until stopped; the first line of output is the URL, unless MCP needs the pipe."""
        from tasks.service.server import listen, make_service, open_shelf, run_service, serve_stdio

        homes = self._homes()
        for home, _ in homes.values():
            home.require_edition()
        serving = self._serving()
        shelf = open_shelf(homes, serving)
        if self.mcp:
            serve_stdio(shelf)
            return 0
        app = make_service(shelf, serving)
        for served in shelf.homes.values():  # what cannot be read is told before the address is
            served.take(()).release()
        with listen(serving) as listening:
            self._announce(listening.getsockname()[1], call)
            run_service(app, listening, serving)
        return 0

    def _homes(self) -> "dict[str, tuple[Home, Settings]]":
        """Return the homes by name, with the settings of each."""
        from flows.home import home_in, reading_settings_of

        if not self.homes:
            home = self.place
            name = home.path.resolve().name or "home"
            return {name: (home, self.settings or reading_settings_of(home))}
        if self.settings:
            raise UsageError("Settings of several homes are those in their settings.toml.")
        named = (home.partition("=") for home in self.homes)
        opened = {name: home_in(Path(folder)) for name, _, folder in named}
        return {name: (home, reading_settings_of(home)) for name, home in opened.items()}

    def _serving(self) -> "Serving":
        from tasks.service.guard import Limits
        from tasks.service.server import Serving

        return Serving(
            self.host,
            self.port,
            tuple(self.allow_host),
            self.tls_cert,
            self.tls_key,
            self.behind_proxy,
            self.threads,
            self.waiting,
            Limits(rate=self.rate, burst=self.burst),
        )

    def _announce(self, port: int, call: Call) -> None:
        scheme = "https" if self.tls_cert else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        address = f"{scheme}://{host}:{port}"
        ready = {"address": address, "pid": os.getpid()}
        terminal.show(json.dumps(ready) if call.json else address)


COMMAND = Serve
