"""Remote knowledge bases of a home, against the server of `knowledge_server.py`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from schemas.settings import KnowledgeBaseSettings
from tasks.programs.knowledge_bases.choose import open_web
from tasks.programs.knowledge_bases.cndbpedia import CnDbpedia
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact
from tasks.programs.knowledge_bases.web import Web
from tasks.programs.knowledge_bases.wikidata import Wikidata
from tasks.programs.knowledge_bases.wikipedia import Wikipedia
from tests.knowledge_server import World

MIRA = EntityRef("Wikidata", "Q1", "Mira Holt")


class RemoteBases:
    """A home's access to remote knowledge bases; each knowledge base is for one question."""

    def __init__(self, home: Path, world: World, **changes: Any) -> None:
        self.settings = KnowledgeBaseSettings(**world.settings(**changes))
        web = open_web(home, self.settings)
        assert web is not None
        self.web: Web = web

    def wikidata(self, language: str = "en") -> Wikidata:
        return Wikidata(self.web, self.settings, language)

    def wikipedia(self, language: str = "en") -> Wikipedia:
        return Wikipedia(self.web, self.settings, language)

    def cndbpedia(self) -> CnDbpedia:
        return CnDbpedia(self.web, self.settings)


OpenRemote = Callable[..., RemoteBases]


def stated(facts: list[Fact]) -> set[tuple[str, str, bool]]:
    return {(fact.relation, fact.text, fact.inverse) for fact in facts}


PROGRAM = """
def search():
    births, messages = find_entity_or_value(entity_aliases=["Mira Holt"], relation_aliases=["born in", "place of birth"])
    counts, more = find_entity_or_value(entity_aliases=births or [], relation_aliases=["population"])
    answers.extend(counts or [])
    return messages + more
"""  # noqa: E501 - a program's text


def replying(code: int, body: bytes, **headers: str) -> Any:
    return lambda handler: handler.reply(code, body, **headers)


def status(code: int, **headers: str) -> Any:
    return replying(code, b"no", **(headers or {"X_None": "1"}))
