"""What the disk says when it cannot take more, in words for people."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import AlmanacError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_SAID = "No space left on device"  # DuckDB and tantivy tell it in their own kinds of error


@contextmanager
def full_disk_in_plain_words(folder: Path) -> Iterator[None]:
    """Raise AlmanacError in place of whatever a full disk makes the body raise."""
    try:
        yield
    except AlmanacError:
        raise
    except Exception as error:
        if getattr(error, "errno", None) not in _FULL and _SAID not in str(error):
            raise
        free = shutil.disk_usage(folder).free >> 20
        raise AlmanacError(
            f"The disk under {folder} is full ({free} MiB are free). What is published is as it "
            "was, and the next refresh goes on from what was done. `almanac editions prune` makes "
            "room."
        ) from error
