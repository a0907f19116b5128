"""One JSON file per benchmark: its figures, the command behind them, the commit, the machine."""

from pathlib import Path
from typing import Any

from benchmarks.command import RESULTS, report

__all__ = ["RESULTS", "write_results"]


def write_results(name: str, command: str, figures: dict[str, Any]) -> Path:
    """Write the figures of a benchmark and return the file."""
    return report(name, figures)
