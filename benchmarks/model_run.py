"""One refresh by a model in a process of its own, measured stage by stage.

    python -m benchmarks.model_run HOME SOURCE --base-url URL --out FILE [--concurrency 16] [...]

The other benchmarks start it. Figures are seconds, processor seconds of this process, and counts;
everything that costs only once (imports, the parser for the search index) is loaded beforehand.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson

from benchmarks.command import parser_of, run_command
from schemas.settings import EngineSettings, ModelSettings, PublishSettings, Settings

MODEL = "mock-model"
KEY = "sk-benchmark-0123456789abcdef"


def model_settings(base_url: str, concurrency: int, **more: Any) -> Settings:
    """Return settings for a refresh by the mock endpoint: no vectors, no gate in the way."""
    model = ModelSettings(name=MODEL, base_url=base_url, concurrency=concurrency, **more)
    engine = EngineSettings(engine="openai", model=model, encoder="none")
    gates = PublishSettings(max_rejected=1.0, max_shrink=1.0)
    return Settings(engine=engine, publish=gates, workers=1)


def start(home: Path, source: Path, base_url: str, out: Path, **options: Any) -> Any:
    """Start a measured refresh and return its process; options are those of the command line."""
    command = [sys.executable, "-m", "benchmarks.model_run", str(home), str(source)]
    command += ["--base-url", base_url, "--out", str(out)]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    with (out.parent / f"{out.stem}.log").open("wb") as log:
        return subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )


def finish(process: Any, out: Path) -> dict[str, Any]:
    """Wait for a measured run and return its figures."""
    if process.wait():
        words = (out.parent / f"{out.stem}.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"a measured run failed: {words}")
    figures: dict[str, Any] = orjson.loads(out.read_bytes())
    return figures


def cpu_seconds() -> float:
    """Return the processor time of this process so far, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class CountedWork:
    """A function, and the processor time that its thread spent in it."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self.work, self.seconds = work, 0.0

    def __call__(self, *values: Any) -> Any:
        """Call the function and add its processor time."""
        began = time.thread_time()
        try:
            return self.work(*values)
        finally:
            self.seconds += time.thread_time() - began


def measured_refresh(home: Path, source: Path, settings: Settings) -> dict[str, Any]:
    """Refresh and return seconds and processor seconds by stage, and the run's counts."""
    from tasks.extract.by_model import engine
    from tasks.refresh import refresh
    from warehouse.home import Home

    used: dict[str, dict[str, float]] = {}
    grounding = CountedWork(engine.ground)

    def stage(name: str, work: Callable[[], None]) -> None:
        began, cpu = time.perf_counter(), cpu_seconds()
        try:
            work()
        finally:
            seconds, cpu = time.perf_counter() - began, cpu_seconds() - cpu
            used[name] = {"seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)}

    began, cpu = time.perf_counter(), cpu_seconds()
    with patch.object(engine, "ground", grounding):
        run = refresh(Home(home), [str(source)], settings, run_stage=stage)
    return {
        "seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(cpu_seconds() - cpu, 3),
        "start_up_cpu_seconds": round(cpu, 3),
        "grounding_cpu_seconds": round(grounding.seconds, 3),
        "stages": used,
        "counts": run.counts,
        "outcome": run.outcome,
    }


def load_beforehand() -> None:
    """Import what the refresh would import on its way."""
    import duckdb  # noqa: F401
    import openai.resources.chat  # noqa: F401
    import tantivy  # noqa: F401

    import tasks.extract.by_model.engine
    import tasks.models.endpoint
    import tasks.models.transports
    import tasks.refresh  # noqa: F401


def main() -> None:
    """Refresh once and write the figures."""
    parser = parser_of(__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--call-tokens", type=int, default=2000)
    parser.add_argument("--reply-tokens", type=int, default=4096)
    arguments = parser.parse_args()
    settings = model_settings(
        arguments.base_url,
        arguments.concurrency,
        call_tokens=arguments.call_tokens,
        reply_tokens=arguments.reply_tokens,
    )
    load_beforehand()
    figures = measured_refresh(arguments.home, arguments.source, settings)
    arguments.out.write_bytes(orjson.dumps(figures))


if __name__ == "__main__":
    run_command(main)
