"""The folders in which an edition keeps the arrays of its graphs."""

from pathlib import Path

from warehouse.editions import Edition

FOLDER = "graphs"
NAMES = "names"  # within a graph's folder: the indexes for linking


def graph_folders(edition: Edition) -> list[Path]:
    """Return the folders of an edition's graphs."""
    return sorted((edition.path / FOLDER).glob("[0-9]*"))
