"""Wikidata as a knowledge base, through its public API and query service.

https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities (and wbgetentities);
https://www.mediawiki.org/wiki/Wikidata_Query_Service for the items that refer to an entity.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from schemas.settings import KnowledgeBaseSettings
from tasks.programs.knowledge_bases.mediawiki import MOST_IDS, api_call, searchable
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef, Fact
from tasks.programs.knowledge_bases.ranking import likelihood
from tasks.programs.knowledge_bases.remote_call import RemoteCall, line, rows, table
from tasks.programs.knowledge_bases.web import Visit, Web
from tasks.programs.knowledge_bases.wikidata_statements import WikidataStatement, statements_of

MOST_ALIASES = 5  # names that are searched for
MOST_FOUND = 10  # candidates of a name
MOST_INVERSE = 200  # triples of which an entity is the tail
ANY_LANGUAGE = "mul"  # labels that are the same in all languages
_ITEM = re.compile(r"Q[1-9][0-9]{0,8}")
_PROPERTY = re.compile(r"P[1-9][0-9]{0,8}")
# Limited, as millions of items refer to a country. The ontology says which predicates are direct
# claims; their addresses do not.
_REFERRING = """
PREFIX wd: <http://www.wikidata.org/entity/>
PREFIX wikibase: <http://wikiba.se/ontology#>
SELECT ?subject ?property WHERE {{
  ?subject ?claim wd:{entity} .
  ?property wikibase:directClaim ?claim .
}} LIMIT {limit}
"""


class Wikidata:
    """Wikidata for one question; `troubles` lists what went wrong so far."""

    personal = False

    def __init__(
        self,
        web: Web,
        settings: KnowledgeBaseSettings,
        language: str,
        name: str = "Wikidata",
        visit: Visit | None = None,
    ) -> None:
        """Store the arguments; `name` and `visit` are those of an enclosing knowledge base."""
        self.name, self.graph = name, "wikidata"
        self.visit = visit or Visit(web, settings.question_seconds)
        self.troubles = self.visit.troubles
        self.language = language
        self._url, self._sparql_url = settings.wikidata_url, settings.wikidata_sparql_url
        self._labels = Labels(self.visit, self._url, language)
        self._facts: dict[str, list[Fact]] = {}
        self._descriptions: dict[str, str] = {}

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        """Return items whose label or alias begins with one of the aliases or matches it."""
        names = [name for alias in aliases[:MOST_ALIASES] if (name := searchable(alias))]
        calls = [
            api_call(
                self._url, action="wbsearchentities", search=name, language=self.language,
                uselang=self.language, type="item", limit=str(MOST_FOUND),
            )
            for name in names
        ]  # fmt: skip
        candidates: dict[str, Candidate] = {}
        for reply in self.visit.ask(calls):
            for place, hit in enumerate(rows(table(reply).get("search"))[:MOST_FOUND]):
                self._add(candidates, table(hit), place, query, aliases)
        if not candidates and names:
            self._search_texts(candidates, names[0], query, aliases)
        return sorted(candidates.values(), key=lambda candidate: -candidate.score)

    def get_entity_info(self, entity: EntityRef) -> str:
        """Return an item's description."""
        if entity.key not in self._descriptions and _ITEM.fullmatch(entity.key):
            self._learn(entity.key, self.visit.ask_one(self._entity_call(entity.key)))
        return self._descriptions.get(entity.key, "")

    def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
        """Return an item's statements and some of the items that refer to it."""
        if not _ITEM.fullmatch(entity.key):
            return []
        if entity.key not in self._facts:
            self._facts[entity.key] = self._ask_facts(entity)
        return self._facts[entity.key]

    def title(self, key: str, site: str) -> str:
        """Return the title of an item's page in a wiki such as `enwiki`, empty without one."""
        if not _ITEM.fullmatch(key):
            return ""
        reply = self.visit.ask_one(
            api_call(self._url, action="wbgetentities", ids=key, props="sitelinks", sitefilter=site)
        )
        return line(table(_entity(reply, key), "sitelinks", site).get("title"))

    def _search_texts(
        self, candidates: dict[str, Candidate], name: str, query: str, aliases: list[str]
    ) -> None:
        """Add items from the full text search, which also finds words inside of names."""
        call = api_call(
            self._url, action="query", list="search", srsearch=name, srnamespace="0",
            srlimit=str(MOST_FOUND), srprop="",
        )  # fmt: skip
        hits = rows(table(self.visit.ask_one(call), "query").get("search"))
        ids = [key for hit in hits if _ITEM.fullmatch(key := line(table(hit).get("title")))]
        for place, (key, label) in enumerate(self._labels.names(ids[:MOST_FOUND]).items()):
            self._add(candidates, {"id": key, "label": label}, place, query, aliases)

    def _add(
        self,
        candidates: dict[str, Candidate],
        hit: dict[str, Any],
        place: int,
        query: str,
        aliases: list[str],
    ) -> None:
        """Add a hit of a search; an item that is found by several names keeps them all."""
        key = line(hit.get("id"))
        if not _ITEM.fullmatch(key):
            return
        label = line(hit.get("label")) or line(table(hit, "display", "label").get("value"))
        also = [line(alias) for alias in rows(hit.get("aliases"))[:MOST_FOUND]]
        also.append(line(table(hit, "match").get("text")))
        others = tuple(dict.fromkeys(name for name in also if name and name != label))
        description = line(hit.get("description"))
        score = likelihood(query, aliases, [label, *others], place, description)
        self._labels.learn(key, label)
        if description:
            self._descriptions[key] = description
        new = Candidate(EntityRef(self.name, key, label or key), score, description, others)
        known = candidates.get(key, new)
        best = max(known, new, key=lambda candidate: candidate.score)
        names = tuple(dict.fromkeys((*known.aliases, *others)))
        candidates[key] = replace(best, aliases=names)

    def _ask_facts(self, entity: EntityRef) -> list[Fact]:
        calls = [self._entity_call(entity.key)]
        if self._sparql_url:
            query = _REFERRING.format(entity=entity.key, limit=MOST_INVERSE)
            calls.append(RemoteCall(self._sparql_url, {"query": query, "format": "json"}))
        replies = [*self.visit.ask(calls), None]
        statements = self._learn(entity.key, replies[0])
        referring = _pairs(replies[1])
        ids = [part for s in statements for part in (s.property, s.target, s.unit) if part]
        ids += [part for pair in referring for part in pair]
        names = self._labels.names(ids)
        forward = [self._forward(entity, statement, names) for statement in statements]
        return forward + [
            Fact(
                entity, names[prop], EntityRef(self.name, subject, names[subject]), inverse=True,
                fact_id=f"{subject} {prop} {entity.key}",
            )
            for subject, prop in referring
        ]  # fmt: skip

    def _forward(
        self, entity: EntityRef, statement: WikidataStatement, names: dict[str, str]
    ) -> Fact:
        value: EntityRef | str = statement.text
        if statement.target:
            value = EntityRef(self.name, statement.target, names[statement.target])
        elif statement.unit:
            value = f"{statement.text} {names[statement.unit]}"
        return Fact(
            entity, names[statement.property], value, fact_id=statement.statement_id or None
        )

    def _entity_call(self, key: str) -> RemoteCall:
        return api_call(
            self._url, action="wbgetentities", ids=key, props="labels|descriptions|claims",
            languages=languages_for(self.language), languagefallback="1",
        )  # fmt: skip

    def _learn(self, key: str, reply: object) -> list[WikidataStatement]:
        """Keep an item's description and label; return its statements."""
        item = _entity(reply, key)
        self._descriptions.setdefault(key, in_language(item.get("descriptions"), self.language))
        self._labels.learn(key, in_language(item.get("labels"), self.language))
        return statements_of(item.get("claims"))


def _entity(reply: object, key: str) -> dict[str, Any]:
    """Return an entity from a reply to one id; a merged entity has a new id."""
    entities = table(reply, "entities")
    if key in entities:
        return table(entities, key)
    return table(next(iter(entities.values()), None))


def _pairs(reply: object) -> list[tuple[str, str]]:
    """Return subjects and properties from the JSON results of a SPARQL query."""
    pairs = []
    for row in rows(table(reply, "results").get("bindings"))[:MOST_INVERSE]:
        subject, prop = (
            line(table(row, name).get("value")).rpartition("/")[2]
            for name in ("subject", "property")
        )
        if _ITEM.fullmatch(subject) and _PROPERTY.fullmatch(prop):
            pairs.append((subject, prop))
    return list(dict.fromkeys(pairs))


def languages_for(language: str) -> str:
    """Return the languages of labels to ask for, in the order of preference."""
    return "|".join(dict.fromkeys((language, ANY_LANGUAGE, "en")))


def in_language(forms: object, language: str) -> str:
    """Return the text among an entity's labels or descriptions that suits a language best."""
    known = table(forms)
    for code in languages_for(language).split("|"):
        if text := line(table(known, code).get("value")):
            return text
    return ""


class Labels:
    """Names by id, in one language; an id without a name is its own name."""

    def __init__(self, visit: Visit, url: str, language: str) -> None:
        self._visit, self._url, self._language = visit, url, language
        self._known: dict[str, str] = {}

    def learn(self, entity: str, name: str) -> None:
        """Keep a name from the reply to another request."""
        if name:
            self._known[entity] = name

    def names(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the name of each id, from memory, the cache, or the service in batches."""
        wanted = list(dict.fromkeys(ids))
        unknown = sorted(key for key in wanted if key not in self._known and not self._cached(key))
        batches = [unknown[at : at + MOST_IDS] for at in range(0, len(unknown), MOST_IDS)]
        calls = [
            api_call(
                self._url, keep=False, action="wbgetentities", ids="|".join(batch),
                props="labels", languages=languages_for(self._language), languagefallback="1",
            )
            for batch in batches
        ]  # fmt: skip
        for batch, reply in zip(batches, self._visit.ask(calls), strict=True):
            for key in batch:
                name = in_language(table(reply, "entities", key).get("labels"), self._language)
                if name:
                    self._known[key] = name
                    self._visit.web.cache.put(self._cache_key(key), name.encode())
        return {key: self._known.get(key, key) for key in wanted}

    def _cached(self, key: str) -> bool:
        kept, _ = self._visit.web.cache.get(self._cache_key(key)) or (b"", 0.0)
        name = line(kept.decode(errors="replace"))
        self.learn(key, name)
        return bool(name)

    def _cache_key(self, key: str) -> str:
        return f"label {self._language} {key} {self._url}"
