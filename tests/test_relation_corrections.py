"""Relations in an edition: one name, one direction, people's corrections, and what changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.__main__ import main
from schemas.knowledge import CORPUS
from schemas.settings import load_settings
from tasks.programs.functions import Functions
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.refresh import refresh
from tests.relation_rounds import rounds
from warehouse.home import Home

TEXT = """# Solaris

Solaris is a film. Solaris was directed by Andrei Tarkovsky. Andrei Tarkovsky directed Stalker.

Andrei Tarkovsky was born in Zavrazhye. Larisa Tarkovskaya was the wife of Andrei Tarkovsky.
"""


@pytest.fixture
def films(tmp_path: Path) -> list[str]:
    """A home with an edition of one text; returns the arguments that name it."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "solaris.md").write_text(TEXT, encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text(
        '[publish]\nmin_confidence = 0.0\n[engine]\nencoder = "none"\n'
    )
    again(["--home", str(home)])
    return ["--home", str(home)]


def again(home: list[str]) -> None:
    path = Path(home[1])
    refresh(Home(path), [str(path.parent / "texts")], load_settings(path))


def rows(home: list[str], query: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["sql", query, "--json", *home]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


FILMS = """
select t.triple_id, t.head, t.tail, m.stated from triples t
join mentions m on m.fact_id = t.triple_id where t.relation = 'directed by' order by t.head
"""


def test_one_relation_for_both_voices_and_a_correction_with_its_cause(
    films: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    stated = {row["head"]: (row["tail"], row["stated"]) for row in rows(films, FILMS, capsys)}
    assert stated["Solaris"] == ("Andrei Tarkovsky", "directed by")
    assert stated["Stalker"] == ("Andrei Tarkovsky", "directed")
    [relation] = rows(films, "from relations where relation = 'directed by'", capsys)
    assert relation["wordings"] == ["directed by"] and relation["inverse"] == "directed"
    assert relation["inverse_wordings"] == ["directed"] and relation["triples"] == 2

    assert main(["override", "relation", "born in", "--as", "native to", *films]) == 0
    again(films)
    changed = rows(films, "from changes where fact_kind in ('relation', 'triple')", capsys)
    assert {row["cause"] for row in changed} == {"override"}
    words = {(row["kind"], row["text"]) for row in changed}
    assert ("added", "born in = native to") in words and ("gone", "born in = born in") in words
    assert ("gone", "Andrei Tarkovsky | born in | Zavrazhye") in words
    assert main(["override", "relation", "stars", "--apart", *films]) == 2

    edition = Home(Path(films[1])).require_edition()
    ask = Functions(edition_graphs(edition)[CORPUS], "")
    ask.find_entity_or_value(["Andrei Tarkovsky"], ["born in"])
    assert "native to" in {fact.relation for fact in ask.calls[-1].facts}


def test_a_correction_that_is_withdrawn_leaves_nothing_behind(
    films: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    texts = Path(films[1]).parent / "texts"
    (texts / "stage.md").write_text("Una Pell plastered the Globe.\n", encoding="utf-8")
    again(films)
    capsys.readouterr()
    assert main(["override", "relation", "plastered", "--as", "decked out", "--json", *films]) == 0
    correction = json.loads(capsys.readouterr().out)["override_id"]
    named = "select distinct relation from triples where head = 'Una Pell'"
    again(films)
    assert rows(films, named, capsys) == [{"relation": "decked out"}]
    assert main(["override", "withdraw", correction, *films]) == 0
    (texts / "other.md").write_text("Una Pell plastered the Swan.\n", encoding="utf-8")
    again(films)
    assert rows(films, named, capsys) == [{"relation": "plastered"}]


def test_what_was_rejected_stays_so_when_its_relation_is_renamed(
    films: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    by_film = {row["head"]: row["triple_id"] for row in rows(films, FILMS, capsys)}
    assert main(["override", "reject", by_film["Stalker"], *films]) == 0
    assert main(["override", "relation", "directed", "--as", "helmed", *films]) == 0
    again(films)
    left = rows(films, "select head, relation, tail from triples", capsys)
    ends = [{row["head"], row["tail"]} for row in left]
    assert {"Stalker", "Andrei Tarkovsky"} not in ends
    assert {"Solaris", "Andrei Tarkovsky"} in ends


def test_names_stay_from_day_to_day() -> None:
    towns = ("Bergen", "Tromsø", "Molde", "Bodø", "Hamar")
    texts = [
        {
            "title": f"Anna {town}sen",
            "text": f"Anna {town}sen was a painter. Anna {town}sen was born in {town}. "
            f"She was the daughter of Ola {town}sen.",
        }
        for town in towns
    ]
    [(renamed, wordings)] = list(rounds(texts, 4, 0.25, 1))
    assert renamed == 0 and "born in" in wordings


def test_a_correction_says_that_its_relation_is_new(
    films: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for relation, is_new in (("directed by", False), ("staged bye", True)):
        assert main(["override", "relation", "wife of", "--as", relation, *films]) == 0
        assert ("it will be a new one" in capsys.readouterr().out) == is_new


def test_a_relation_is_corrected_by_the_name_that_the_edition_shows(
    films: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    texts = Path(films[1]).parent / "texts"
    (texts / "mirror.md").write_text("Mirror was lensed by Georgy Rerberg.\n", encoding="utf-8")
    again(films)
    [lensed] = rows(films, "from triples where relation like 'lensed%'", capsys)
    assert (lensed["head"], lensed["relation"]) == ("Georgy Rerberg", "lensed")

    assert main(["override", "relation", "lensed", "--as", "directed", *films]) == 0
    assert "“X lensed Y” will be “Y directed by X”" in capsys.readouterr().out
    again(films)
    assert "Mirror" in {row["head"] for row in rows(films, FILMS, capsys)}
    assert main(["override", "relation", "lensed by", "--as", "directed", *films]) == 0
    assert "“X lensed by Y” will be “Y directed by X”" in capsys.readouterr().out
