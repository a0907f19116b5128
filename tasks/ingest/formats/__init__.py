"""List sources and read the clean text of files in every format.

`scan` lists a source; `read_item` turns one item into texts, refusals and removals. Each input
results in exactly one of them; `inputs.Reason` lists the reasons for refusals.
"""

from tasks.ingest.formats.inputs import (
    Item,
    Listing,
    Outcome,
    ReadText,
    Reason,
    Refusal,
    RefusalError,
    Removal,
)
from tasks.ingest.formats.likeness import content_id, near_duplicates, with_a_common_band
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.sources import scan

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
    "with_a_common_band",
]
