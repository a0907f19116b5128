"""A made-up world of films, and questions about it in other words than its relations'."""

from collections.abc import Iterator

from tasks.graphs.graph import Graph

FILMS = 60
DIRECTORS = 12
ACTORS = 20
YEARS = 15

ONE_HOP = {
    "who helmed {film}": (("directed_by", False),),
    "the person behind the camera of {film} was": (("directed_by", False),),
    "in what year did {film} come out": (("release_year", False),),
    "when could people first see {film}": (("release_year", False),),
    "whom do we see in {film}": (("starred_actors", False),),
    "what did {person} helm": (("directed_by", True),),
}
TWO_HOPS = {
    "which others were helmed by whoever helmed {film}": (
        ("directed_by", False),
        ("directed_by", True),
    ),
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


def asked(templates: dict[str, tuple[tuple[str, bool], ...]]) -> Iterator[tuple[str, tuple]]:
    """Yield every question and its path, film by film."""
    for n in range(FILMS):
        for template, path in templates.items():
            topic = film(n) if "{film}" in template else person(n % DIRECTORS)
            yield template.format(film=topic, person=topic), path
