"""CN-DBpedia as a knowledge base, through its public API (http://shuyantech.com/docuapi).

`ment2ent?q=` takes a name and returns the entities it may mean, `avpair?q=` takes an entity and
returns its pairs of attribute and value. Both answer `{"status": "ok", "ret": [...]}`, or "fail".
The attribute DESC holds the description, CATEGORY_ZH a category. Entities are identified by their
names, with a disambiguating note in brackets. The API cannot be asked which entities refer to an
entity.
"""

import os
import re
from typing import Any

from schemas.settings import KnowledgeBaseSettings
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef, Fact
from tasks.programs.knowledge_bases.ranking import likelihood
from tasks.programs.knowledge_bases.remote_call import (
    LONGEST_TEXT,
    RemoteCall,
    RemoteRefusal,
    line,
    rows,
    table,
)
from tasks.programs.knowledge_bases.web import Visit, Web

KEY_VARIABLE = "CNDBPEDIA_API_KEY"
MOST_ALIASES = 5
MOST_FOUND = 20  # entities per name
MOST_PAIRS = 500
DESCRIPTION, CATEGORY = "DESC", "CATEGORY_ZH"
_PLAIN_NAMES = {CATEGORY: "类别"}  # of attributes with technical names
_BRACKETS = re.compile(r"^(.+?)\s*[（(]([^（）()]+)[）)]$")
_LINK = re.compile(r"</?a(?:\s[^<>]*)?>", re.IGNORECASE)


class CnDbpedia:
    """CN-DBpedia for one question; `troubles` lists what went wrong so far."""

    name, graph, personal = "CN-DBpedia", "cn-dbpedia", False

    def __init__(self, web: Web, settings: KnowledgeBaseSettings) -> None:
        self.visit = Visit(web, settings.question_seconds)
        self.troubles = self.visit.troubles
        self._url = settings.cndbpedia_url.rstrip("/")
        self._pairs: dict[str, list[tuple[str, str]]] = {}

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        """Return the entities that the aliases may mean, likeliest first."""
        names = [name for alias in aliases[:MOST_ALIASES] if (name := line(alias))]
        candidates: dict[str, Candidate] = {}
        replies = self.visit.ask([self._call("ment2ent", name) for name in names])
        for name, reply in zip(names, replies, strict=True):
            for place, hit in enumerate(rows(table(reply).get("ret"))[:MOST_FOUND]):
                new = self._candidate(line(hit), name, place, query, aliases)
                known = candidates.get(new.entity.key)
                if new.entity.key and (known is None or known.score < new.score):
                    candidates[new.entity.key] = new
        return sorted(candidates.values(), key=lambda candidate: -candidate.score)

    def get_entity_info(self, entity: EntityRef) -> str:
        """Return an entity's description, else its categories."""
        pairs = self._pairs_of(entity.key)
        categories = "、".join(value for attribute, value in pairs if attribute == CATEGORY)
        return next((value for attribute, value in pairs if attribute == DESCRIPTION), categories)

    def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
        """Return an entity's attributes and values; values are texts, even those that are names."""
        return [
            Fact(entity, _PLAIN_NAMES.get(attribute, attribute), value)
            for attribute, value in self._pairs_of(entity.key)
            if attribute != DESCRIPTION
        ]

    def _candidate(
        self, full: str, name: str, place: int, query: str, aliases: list[str]
    ) -> Candidate:
        brackets = _BRACKETS.match(full)
        base, which = (brackets[1], brackets[2]) if brackets else (full, "")
        # The service itself says that the name, which may be a nickname, means this entity.
        score = likelihood(query, aliases, [full, base, name], place, which)
        others = tuple(dict.fromkeys(other for other in (base, name) if other != full))
        return Candidate(EntityRef(self.name, full, full), score, which, others)

    def _pairs_of(self, key: str) -> list[tuple[str, str]]:
        if key not in self._pairs:
            reply = self.visit.ask_one(self._call("avpair", key)) if line(key) else None
            pairs = [_pair(pair) for pair in rows(table(reply).get("ret"))[:MOST_PAIRS]]
            self._pairs[key] = list(dict.fromkeys(pair for pair in pairs if all(pair)))
        return self._pairs[key]

    def _call(self, function: str, query: str) -> RemoteCall:
        key = os.environ.get(KEY_VARIABLE, "")
        return RemoteCall(
            f"{self._url}/{function}",
            {"q": line(query)},
            refusal=_refusal,
            secret={"apikey": key} if key else {},
        )


def _refusal(reply: Any) -> RemoteRefusal | None:
    fields = table(reply)
    if fields.get("status") == "ok":
        return None
    words = line(fields.get("msg")) or line(fields.get("message")) or line(fields.get("ret"))
    hint = "" if os.environ.get(KEY_VARIABLE) else f"; a key may stand in {KEY_VARIABLE}"
    return RemoteRefusal(f"{words or 'it says that it failed'}{hint}")


def _pair(pair: object) -> tuple[str, str]:
    """Return an attribute and its value without the markup of links, empty for anything else."""
    parts = rows(pair)
    if len(parts) != 2 or not isinstance(parts[1], str):
        return "", ""
    return line(parts[0]), line(_LINK.sub("", parts[1][: 2 * LONGEST_TEXT]), LONGEST_TEXT)
