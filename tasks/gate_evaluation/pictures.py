"""Pictures."""

from pathlib import Path

from schemas.errors import UsageError

FORMATS = (".svg", ".png")


def check_picture(path: Path) -> None:
    """Raise UsageError where no picture can be written to this path."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path} must end in {' or '.join(FORMATS)}.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {path.absolute().parent} for the picture.")
