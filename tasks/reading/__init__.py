"""Reading: what sources list, and the clean text of every format.

`scan` lists a source; `read_item` turns one item into texts, refusals and removals. Each input
ends in exactly one of them: `inputs.Reason` is the table of refusals.
"""

from tasks.reading.inputs import (
    Item,
    Listing,
    Outcome,
    ReadText,
    Reason,
    Refusal,
    RefusalError,
    Removal,
)
from tasks.reading.likeness import content_id, near_duplicates
from tasks.reading.read import read_item
from tasks.reading.sources import scan

__all__ = [
    "Item",
    "Listing",
    "Outcome",
    "ReadText",
    "Reason",
    "Refusal",
    "RefusalError",
    "Removal",
    "content_id",
    "near_duplicates",
    "read_item",
    "scan",
]
