"""Wikipedia's articles, with Wikidata's statements about their subjects.

Names are found by the completion search (opensearch), by titles with their redirects, and by the
full text search; the lead of an article describes its entity; `wikibase_item` leads to its
statements. https://www.mediawiki.org/wiki/API:Query, Extension:TextExtracts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from schemas.errors import UsageError
from schemas.settings import KnowledgeBaseSettings
from tasks.programs.knowledge_bases.mediawiki import api_call, as_title, searchable
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef, Fact
from tasks.programs.knowledge_bases.ranking import likelihood
from tasks.programs.knowledge_bases.remote_call import LONGEST_TEXT, line, rows, table
from tasks.programs.knowledge_bases.web import Visit, Web
from tasks.programs.knowledge_bases.wikidata import Wikidata

MOST_ALIASES = 5
MOST_COMPLETIONS = 5  # per alias
MOST_PAGES = 20  # the most pages whose leads the API returns at once
PAGE = "page:"  # begins the key of an article without an item
_LANGUAGE = re.compile("[a-z]{2,3}(-[a-z]{2,10}){0,2}")


@dataclass(frozen=True, slots=True)
class _Page:
    """An article: its item's id or its own key, its title, the names that lead to it, its lead."""

    key: str
    title: str
    others: tuple[str, ...]
    lead: str


class Wikipedia:
    """Wikipedia and Wikidata for one question; `troubles` lists what went wrong so far."""

    name, graph, personal = "Wikipedia/Wikidata", "wikipedia", False

    def __init__(self, web: Web, settings: KnowledgeBaseSettings, language: str) -> None:
        if not _LANGUAGE.fullmatch(language):
            raise UsageError(f"There is no Wikipedia in a language called {language!r}.")
        self.visit = Visit(web, settings.question_seconds)
        self.troubles = self.visit.troubles
        self._wikidata = Wikidata(web, settings, language, self.name, self.visit)
        self._url = settings.wikipedia_url.replace("{language}", language)
        self._site = f"{language.replace('-', '_')}wiki"
        self._leads: dict[str, str] = {}

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        """Return the subjects of the articles that the aliases lead to, likeliest first."""
        names = [name for alias in aliases[:MOST_ALIASES] if (name := searchable(alias))]
        pages = self._pages([*names, *self._find(names)]) if names else []
        candidates = [
            Candidate(
                EntityRef(self.name, page.key, page.title),
                likelihood(query, aliases, [page.title, *page.others], place, page.lead),
                page.lead[:300],
                page.others,
            )
            for place, page in enumerate(pages)
        ]
        return sorted(candidates, key=lambda candidate: -candidate.score)

    def get_entity_info(self, entity: EntityRef) -> str:
        """Return the lead of an entity's article, else its description in Wikidata."""
        key = entity.key
        if key not in self._leads:
            title = (
                key.removeprefix(PAGE)
                if key.startswith(PAGE)
                else self._wikidata.title(key, self._site)
            )
            for page in self._pages([title]) if title else []:
                self._leads.setdefault(key, page.lead)
        return self._leads.get(key) or self._wikidata.get_entity_info(entity)

    def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
        """Return Wikidata's statements about an article's entity."""
        return self._wikidata.get_entity_triples(entity)

    def _find(self, names: list[str]) -> list[str]:
        """Return the titles that the searches find, the best of each search first."""
        most = str(MOST_COMPLETIONS)
        calls = [
            api_call(
                self._url, action="opensearch", search=name, namespace="0", limit=most,
                redirects="resolve",
            )
            for name in names
        ]  # fmt: skip
        calls.append(
            api_call(
                self._url, action="query", list="search", srsearch=names[0], srnamespace="0",
                srlimit=most, srprop="",
            )
        )  # fmt: skip
        *completions, searched = self.visit.ask(calls)
        # A reply of opensearch holds the search, titles, texts and addresses.
        lists = [rows((rows(reply) + [[], []])[1])[:MOST_COMPLETIONS] for reply in completions]
        hits = rows(table(searched, "query").get("search"))
        lists.append([table(hit).get("title") for hit in hits])
        return [line(title) for titles in zip_longest(*lists) for title in titles]

    def _pages(self, titles: Iterable[str]) -> list[_Page]:
        """Return the articles with these titles in this order, once each, no disambiguations."""
        wanted = list(dict.fromkeys(title for name in titles if (title := as_title(name))))
        wanted = wanted[:MOST_PAGES]
        if not wanted:
            return []
        call = api_call(
            self._url, action="query", titles="|".join(wanted), redirects="1", converttitles="1",
            prop="pageprops|extracts", ppprop="wikibase_item|disambiguation", exintro="1",
            explaintext="1", exlimit=str(MOST_PAGES),
        )  # fmt: skip
        reply = table(self.visit.ask_one(call), "query")
        pages: dict[str, tuple[str, str]] = {}
        for page in map(table, rows(reply.get("pages"))):
            title, props = line(page.get("title")), table(page, "pageprops")
            if title and "missing" not in page and "disambiguation" not in props:
                item = line(props.get("wikibase_item"))
                lead = line(page.get("extract"), LONGEST_TEXT)
                pages[title] = (item or f"{PAGE}{title}", lead)
        moves = _moves(reply)
        names: dict[str, list[str]] = {}
        for name in wanted:
            title = name
            for _ in range(4):  # a name may be normalised, converted, then redirected
                title = moves.get(title, title)
            if title in pages:
                names.setdefault(title, []).append(name)
        self._leads |= {key: lead for key, lead in map(pages.__getitem__, names) if lead}
        return [
            _Page(pages[title][0], title, tuple(n for n in own if n != title), pages[title][1])
            for title, own in names.items()
        ]


def _moves(reply: dict[str, object]) -> dict[str, str]:
    """Return the titles that the wiki replaced, with their replacements."""
    steps = [
        table(step)
        for name in ("normalized", "converted", "redirects")
        for step in rows(reply.get(name))
    ]
    return {line(step.get("from")): line(step.get("to")) for step in steps}
