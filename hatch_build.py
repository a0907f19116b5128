"""The wheel's layout: everything lies below `almanac`, so that no name meets a user's own.

In the repository the packages stand side by side, and their imports say `from tasks.ask ...`, which
editors and checkers follow. An editable installation stays so. For a wheel this hook copies the
packages aside, puts `almanac.` before their names in import statements, and adds the copies.
"""

import ast
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("schemas", "warehouse", "tasks", "flows")  # modules name each other only in imports
EXAMPLES = "examples"  # for `almanac demo`; modules find it beside the packages
DEPLOYMENTS = "prefect.yaml"
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.pyc")


class CustomBuildHook(BuildHookInterface):
    """Hatchling's interface: `initialize` runs before a wheel is written, `finalize` after it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the rewritten packages to a wheel; leave an editable installation as it is."""
        self._copies = TemporaryDirectory()
        if version == "editable":
            return
        copy = Path(self._copies.name) / "almanac"
        copy_below_almanac(Path(self.root), copy)
        build_data["force_include"][str(copy)] = "almanac"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        self._copies.cleanup()


def copy_below_almanac(root: Path, copy: Path) -> None:
    """Copy what a wheel holds from a checkout to `copy`, the package `almanac` there."""
    shutil.copytree(root / "almanac", copy, ignore=NOT_SHIPPED)
    for package in PACKAGES:
        shutil.copytree(root / package, copy / package, ignore=NOT_SHIPPED)
    for path in copy.rglob("*.py"):
        path.write_bytes(with_imports_below_almanac(path.read_bytes(), str(path.relative_to(copy))))
    shutil.copytree(root / EXAMPLES, copy / EXAMPLES, ignore=NOT_SHIPPED)
    deployments = (root / DEPLOYMENTS).read_text(encoding="utf-8")
    below = deployments.replace("entrypoint: flows.", "entrypoint: almanac.flows.")
    (copy / DEPLOYMENTS).write_text(below, encoding="utf-8")


def with_imports_below_almanac(source: bytes, name: str) -> bytes:
    """Return a module's source with `almanac.` before the packages that it imports.

    `import schemas` becomes `from almanac import schemas`. Raises SyntaxError for `import tasks.x`
    without `as`, which would bind another name; `name` is the file's in its message.
    """
    insertions: list[tuple[int, int, bytes]] = []  # line from 0, byte in it, what to insert there
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module):
            insertions.append((node.lineno - 1, node.col_offset + len("from "), b"almanac."))
        elif isinstance(node, ast.Import) and any(_is_ours(alias.name) for alias in node.names):
            imported = node.names[0]
            if len(node.names) > 1 or ("." in imported.name and not imported.asname):
                raise SyntaxError(f"{name}, line {node.lineno}: write `from PACKAGE import MODULE`")
            if "." in imported.name:
                insertions.append((node.lineno - 1, node.col_offset + len("import "), b"almanac."))
            else:
                insertions.append((node.lineno - 1, node.col_offset, b"from almanac "))
    lines = source.splitlines(keepends=True)
    for line, byte, words in sorted(insertions, reverse=True):
        lines[line] = lines[line][:byte] + words + lines[line][byte:]
    return b"".join(lines)


def _is_ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in PACKAGES
