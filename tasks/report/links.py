"""Addresses of pages: files of a folder here, URLs of a server in the service."""

from dataclasses import dataclass, replace
from functools import cache
from hashlib import md5
from typing import Protocol

ENTITIES_PER_PAGE = RELATIONS_PER_PAGE = 48  # on average; an address shows one of them
PART_CHARS = 100_000  # of a document's text on one page
FOLDER_POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file: "
    "data:; base-uri 'none'; form-action 'none'"
)


class Links(Protocol):
    """Decides where a page leads to.

    `edition` is the id of the edition that the pages show, `policy` their content security policy.
    `live` says whether a server answers: then pages have a box to ask in and buttons to judge with.
    """

    @property
    def edition(self) -> str: ...  # noqa: D102
    @property
    def policy(self) -> str: ...  # noqa: D102
    @property
    def live(self) -> bool: ...  # noqa: D102

    def page(self, name: str, number: int = 0) -> str:
        """Return the address of a page: index, entities, documents, runs …; long lists have many.

        `number` counts from 0.
        """
        ...

    def asset(self, name: str) -> str:
        """Return the address of a style sheet, script or picture."""
        ...

    def entity(self, entity_id: str) -> str:
        """Return the address of an entity's page."""
        ...

    def facts(self, entity_id: str, number: int) -> str:
        """Return the address of a page, from 0, with all facts of an entity that has many."""
        ...

    def document(self, document_id: str) -> str:
        """Return the address of a document's page."""
        ...

    def place(self, document_id: str, start: int) -> str:
        """Return the address of what begins at a character of a document, where it is marked."""
        ...

    def relation(self, relation: str, graph: str) -> str:
        """Return the address of a relation."""
        ...

    def relation_facts(self, relation: str, graph: str, number: int) -> str:
        """Return the address of a page, from 0, with facts of a relation that has many."""
        ...


@dataclass(frozen=True)
class FolderLinks:
    """Addresses of files in a folder, relative to a page at `root` (`../` from a folder in it).

    An address says nothing but its id and the number of files that hold the entities, or the
    relations, so links are written without looking anything up.
    """

    edition: str
    entity_pages: int
    relation_pages: int = 1
    root: str = ""
    policy: str = FOLDER_POLICY
    live: bool = False

    def below(self, root: str) -> "FolderLinks":
        """Return the same addresses, relative to pages elsewhere."""
        return replace(self, root=root)

    def page(self, name: str, number: int = 0) -> str:
        """Return the address of a page, of which a long list has many, counted from 0."""
        return f"{self.root}{list_file(name, number)}"

    def asset(self, name: str) -> str:
        """Return the address of a style sheet, script or picture."""
        return f"{self.root}assets/{name}"

    def entity(self, entity_id: str) -> str:
        """Return the address of an entity within the file that holds it."""
        return f"{self.root}{entity_file(entity_page(entity_id, self.entity_pages))}#{entity_id}"

    def facts(self, entity_id: str, number: int) -> str:
        """Return the address of a page, from 0, with all facts of an entity."""
        return f"{self.root}{facts_file(entity_id, number)}"

    def document(self, document_id: str) -> str:
        """Return the address of a document's first page."""
        return f"{self.root}{document_file(document_id, 0)}"

    def place(self, document_id: str, start: int) -> str:
        """Return the address of a character of a document."""
        return f"{self.root}{document_file(document_id, start // PART_CHARS)}#c{start}"

    def relation(self, relation: str, graph: str) -> str:
        """Return the address of a relation within the file that holds it."""
        place = relation_page(relation, graph, self.relation_pages)
        return f"{self.root}{relation_file(str(place))}#{relation_anchor(relation, graph)}"

    def relation_facts(self, relation: str, graph: str, number: int) -> str:
        """Return the address of a page, from 0, with facts of a relation that has many."""
        if not number:
            return self.relation(relation, graph)
        return f"{self.root}{relation_file(relation_anchor(relation, graph), number)}"


def entity_order(entity_id: str) -> str:
    """Return what entities are sorted by, which spreads ids of every make evenly over the files."""
    return md5(entity_id.encode(), usedforsecurity=False).hexdigest()


def entity_page(entity_id: str, pages: int) -> int:
    """Return the number of the file that holds an entity, of so many in all."""
    return int(entity_order(entity_id)[:8], 16) * pages >> 32


def entity_file(page: int) -> str:
    """Return the path of a file with entities."""
    return f"entities/{page}.html"


def facts_file(entity_id: str, number: int) -> str:
    """Return the path of a page with facts of one entity, from 0."""
    return f"entities/{entity_id}-{number + 1}.html"


def list_file(name: str, number: int) -> str:
    """Return the path of a page, from 0, of a list of entities or documents."""
    return f"{name}{f'-{number + 1}' if number else ''}.html"


def document_file(document_id: str, part: int) -> str:
    """Return the path of a part of a document, from 0."""
    return f"documents/{document_id}{f'-{part + 1}' if part else ''}.html"


@cache
def relation_anchor(relation: str, graph: str) -> str:
    """Return the fragment of a relation, whose name may hold any character."""
    return "r" + md5(f"{graph}\n{relation}".encode(), usedforsecurity=False).hexdigest()[:12]


def relation_page(relation: str, graph: str, pages: int) -> int:
    """Return the number of the file that holds a relation, of so many in all."""
    return int(relation_anchor(relation, graph)[1:9], 16) * pages >> 32


def relation_file(name: str, number: int = 0) -> str:
    """Return the path of a file with relations, or of a further page, from 1, of one of them."""
    return f"relations/{name}{f'-{number + 1}' if number else ''}.html"
