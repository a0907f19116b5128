"""Almanac from Python: open a home; then refresh, ask, search, query and look up entities.

    import almanac

    with almanac.open("almanac-home") as kb:
        kb.refresh(["my-documents/"])
        print(kb.ask("Where was Marie Curie born?").answers)
        kb.sql("select head, relation, tail from triples").to_pylist()

The methods do what the commands of the same names do, and `entity` what `almanac show` does; none
of them starts a server. They raise `almanac.AlmanacError`, whose message says what to do.

Plug-ins (docs/export.md) import the types that they need from here, and from nowhere below.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from almanac.opened import Almanac

if TYPE_CHECKING:
    from collections.abc import Collection

    from almanac.frames import to_pandas, to_polars
    from schemas import Document, Triple
    from schemas.answers import Answer, Evidence
    from schemas.errors import AlmanacError
    from schemas.settings import EngineSettings, Settings
    from tasks.export.contents import Contents
    from tasks.extract.batches import Engine
    from tasks.extract.extracted import Extracted
    from tasks.graphs.formats.plug_in_format import GraphEntity, GraphTriple
    from tasks.ingest.formats.parsed_text import ParsedText
    from tasks.remember import Remembered
    from tasks.show import EntityPage
    from warehouse.comparison import Difference

__all__ = [
    "Almanac",
    "AlmanacError",
    "Answer",
    "Contents",
    "Difference",
    "Document",
    "Engine",
    "EngineSettings",
    "EntityPage",
    "Evidence",
    "Extracted",
    "GraphEntity",
    "GraphTriple",
    "ParsedText",
    "Remembered",
    "Settings",
    "Triple",
    "open",
    "to_pandas",
    "to_polars",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import what is exported when it is needed, so that importing this package is light."""
        match name:
            case "AlmanacError":
                from schemas import errors as module
            case "Answer" | "Evidence":
                from schemas import answers as module
            case "Settings" | "EngineSettings":
                from schemas import settings as module
            case "Document" | "Triple":
                import schemas as module
            case "Difference":
                from warehouse import comparison as module
            case "EntityPage":
                from tasks import show as module
            case "Remembered":
                from tasks import remember as module
            case "Contents":
                from tasks.export import contents as module
            case "Engine":
                from tasks.extract import batches as module
            case "Extracted":
                from tasks.extract import extracted as module
            case "GraphEntity" | "GraphTriple":
                from tasks.graphs.formats import plug_in_format as module
            case "ParsedText":
                from tasks.ingest.formats import parsed_text as module
            case "to_pandas" | "to_polars":
                from almanac import frames as module
            case _:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(module, name)

    def __dir__() -> list[str]:
        """Return all that is exported, imported or not."""
        return sorted({*globals(), *__all__})


def open(
    home: str | Path = "almanac-home",
    settings: "Settings | None" = None,
    *,
    labels: "Collection[str] | None" = None,
) -> "Almanac":
    """Return the almanac in a folder, which need not exist before the first refresh.

    Without `settings`, those in the home's settings.toml apply. The home's ontology applies unless
    `settings` has one. With `labels`, editions are read as somebody sees them who holds these
    (docs/permissions.md); without, as the owner does.
    """
    return Almanac(home, settings, labels=labels)
