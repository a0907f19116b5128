"""Chooses the knowledge bases for a question: by its language, as the settings say."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from schemas.knowledge import CORPUS
from schemas.settings import KnowledgeBaseSettings
from tasks.programs.knowledge_bases.protocol import KnowledgeBase

if TYPE_CHECKING:
    from tasks.programs.knowledge_bases.web import Web

ALL_GRAPHS = "*"
REMOTE = ("wikipedia", "wikidata", "cn-dbpedia")
USUAL_LANGUAGE = "en"


def open_web(home: Path, settings: KnowledgeBaseSettings) -> "Web | None":
    """Return the client of remote knowledge bases, None if the settings forbid them."""
    if not settings.remote:
        return None
    from tasks.programs.knowledge_bases.web import Web

    return Web(settings, home / "cache" / "knowledge_bases.sqlite")


def knowledge_bases_for(
    language: str,
    graphs: Mapping[str, KnowledgeBase],
    settings: KnowledgeBaseSettings,
    web: "Web | None" = None,
) -> list[KnowledgeBase]:
    """Return the knowledge bases for one question, in the order of the settings.

    `graphs` are the edition's own; a graph with the name of a remote one replaces it. Without `web`
    remote ones are left out. Raises UsageError for an unknown name.
    """
    names = settings.languages.get(language) or settings.languages.get(USUAL_LANGUAGE, ())
    chosen: dict[str, KnowledgeBase] = {}
    for name in names:
        if name == ALL_GRAPHS:
            chosen |= {graph: graphs[graph] for graph in graphs if graph not in chosen}
        elif name in graphs:
            chosen.setdefault(name, graphs[name])
        elif name in REMOTE:
            if web is not None:
                chosen.setdefault(name, _remote(name, web, settings, language))
        elif name != CORPUS:
            raise UsageError(
                f"The settings name a knowledge base {name!r} for questions in {language!r}, and "
                "no graph is called so. Import it, or correct knowledge_bases.languages in "
                "settings.toml."
            )
    return list(chosen.values())


def _remote(name: str, web: "Web", settings: KnowledgeBaseSettings, language: str) -> KnowledgeBase:
    from tasks.programs.knowledge_bases.cndbpedia import CnDbpedia
    from tasks.programs.knowledge_bases.wikidata import Wikidata
    from tasks.programs.knowledge_bases.wikipedia import Wikipedia

    if name == "wikipedia":
        return Wikipedia(web, settings, language)
    return Wikidata(web, settings, language) if name == "wikidata" else CnDbpedia(web, settings)
