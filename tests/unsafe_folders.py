"""Changes to a folder with a manifest, which make it one that must be refused."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warehouse.durable import sha256_file

MANIFEST = "manifest.json"
Change = Callable[[Path], object]


def json_change(name: str, **values: Any) -> Change:
    """Return what sets values in a JSON file."""

    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    return change


def manifest_change(change: Callable[[dict[str, Any]], object]) -> Change:
    """Return what changes the manifest."""

    def changed(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text())
        change(manifest)
        (folder / MANIFEST).write_text(json.dumps(manifest))

    return changed


def resealed(change: Change) -> Change:
    """Return a change after which the manifest has the right hashes, as a contributor's would."""

    def both(folder: Path) -> None:
        def seal(manifest: dict[str, Any]) -> None:
            for name, file in manifest["files"].items():
                path = folder / name
                file.update(sha256=sha256_file(path), size=path.stat().st_size)

        change(folder)
        manifest_change(seal)(folder)

    return both


def linked(name: str) -> Change:
    """Return what moves a file out of the folder and puts a link in its place."""

    def change(folder: Path) -> None:
        shutil.move(folder / name, folder.parent / name)
        (folder / name).symlink_to(folder.parent / name)

    return change


def piped(name: str) -> Change:
    """Return what puts a pipe in a file's place."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change
