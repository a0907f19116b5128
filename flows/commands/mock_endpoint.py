"""`almanac mock-endpoint`: serves a model endpoint on this machine for trials, at no cost."""

import asyncio
import json
import os
import sys
from functools import partial

from pydantic import model_validator

from flows import terminal
from flows.jobs import Call, Command, Shortcut
from schemas.errors import UsageError
from tasks.mock_endpoint.options import EndpointOptions


class ServeMockEndpoint(Command, EndpointOptions):
    """Serve OpenAI's API on this machine for trials; the embedded engine replies."""

    shortcuts = {
        "--port": Shortcut("port", "N"),
        "--latency": Shortcut("latency", "SECONDS"),
        "--ledger": Shortcut("ledger", "FILE"),
        "--faults": Shortcut("faults", "FILE"),
    }

    @model_validator(mode="after")
    def _refuses_one_thing(self) -> "ServeMockEndpoint":
        """Refuse two old-fashioned endpoints at once."""
        if self.plain and self.json_only:
            raise ValueError("give plain or json_only, not both")
        return self

    def run(self, call: Call) -> int:
        """Serve until stopped; the first line of output is the URL."""
        if self.faults is None and self.model_fields_set & {"fault_share", "fault_first"}:
            raise UsageError("Without faults there is nothing to share: name a file by --faults.")
        from tasks.mock_endpoint.server import MockEndpoint, serve

        asyncio.run(serve(MockEndpoint(self), partial(announce, as_json=call.json)))
        return 0


def announce(base_url: str, *, as_json: bool) -> None:
    """Print where the endpoint listens, as JSON with its process."""
    terminal.show(json.dumps({"base_url": base_url, "pid": os.getpid()}) if as_json else base_url)
    sys.stdout.flush()


COMMAND = ServeMockEndpoint
