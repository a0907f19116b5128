"""A made-up world of films, and questions about it in other words than its relations'."""

from pathlib import Path

from schemas.settings import Settings
from tasks.graphs.graph import Graph
from tasks.import_graph import import_graph
from tasks.programs.planner.learn import Example
from tasks.programs.planner.paths import walk
from tests.copied_home import copied_home
from warehouse.home import Home

NamedPath = tuple[tuple[str, bool], ...]
Templates = dict[str, NamedPath]

FILMS, DIRECTORS, ACTORS, YEARS = 60, 12, 20, 15

ONE_HOP: Templates = {
    "who helmed {film}": (("directed_by", False),),
    "the person behind the camera of {film} was": (("directed_by", False),),
    "in what year did {film} come out": (("release_year", False),),
    "when could people first see {film}": (("release_year", False),),
    "whom do we see in {film}": (("starred_actors", False),),
    "what did {person} helm": (("directed_by", True),),
}
TWO_HOPS: Templates = {
    "which others were helmed by whoever helmed {film}": (
        ("directed_by", False),
        ("directed_by", True),
    )
}


def film(number: int) -> str:
    return f"The {('Red', 'Old', 'Lost', 'Last')[number % 4]} Harbour {number}"


def person(number: int) -> str:
    return f"Nora Field {number}"


def triples() -> list[tuple[str, str, str]]:
    return [
        row
        for n in range(FILMS)
        for row in (
            (film(n), "directed_by", person(n % DIRECTORS)),
            (film(n), "release_year", str(1950 + n % YEARS)),
            (film(n), "starred_actors", f"Sam Brook {n % ACTORS}"),
            (film(n), "starred_actors", f"Sam Brook {(n * 7 + 3) % ACTORS}"),
        )
    ]


def graph() -> Graph:
    return Graph.of("films", triples())


def examples(films: Graph, *templates: Templates) -> list[Example]:
    """Return every question with its answers, film by film."""
    return [
        Example(template.format(film=film(n), person=person(n)), _answers(films, template, n, path))
        for n in range(FILMS)
        for group in templates
        for template, path in group.items()
        if "{film}" in template or n < DIRECTORS
    ]


def _answers(films: Graph, template: str, n: int, path: NamedPath) -> tuple[str, ...]:
    topic = films.named(film(n) if "{film}" in template else person(n))
    hops = tuple((films.relation_numbers[name], inverse) for name, inverse in path)
    return tuple(films.label(node) for node in walk(films, topic, hops))


def home_with_films(small_home: Path, folder: Path, settings: Settings) -> Home:
    """Return a copy of a home in a folder, with the graph of films imported."""
    copied_home(small_home, folder / "home")
    films = folder / "films.tsv"
    films.write_text("".join("\t".join(row) + "\n" for row in triples()), encoding="utf-8")
    home = Home(folder / "home")
    import_graph(home, films, settings, name="films")
    return home
