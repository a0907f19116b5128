"""The ontology of a home: read, offered to models, applied to an edition, proposed and checked."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import almanac
import schemas
from flows.__main__ import main
from flows.commands.answer import AnswerQuestions
from flows.commands.doctor import examine
from flows.commands.refresh import RefreshKnowledge
from flows.home import settings_of
from schemas.errors import UsageError
from schemas.knowledge import Misfit
from schemas.ontology import ONTOLOGY_FILE, STRICT_CONFIDENCE, Ontology
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.extract.by_model.engine import (
    MOST_IN_PROMPT,
    identity,
    relations_line,
    relevant_relations,
)
from tasks.extract.rules.kinds import with_parents
from tasks.import_graph import import_graph
from tasks.ontology.check import misfits
from tasks.ontology.fit import misfit
from tasks.ontology.kinds import KindNouns, class_noun
from tasks.ontology.read import read_ontology
from tasks.refresh import refresh
from tests.copied_home import copied_home
from warehouse.editions import Edition
from warehouse.home import Home

FILMS = """
mode: strict
kinds:
  film: [movie, motion picture, 电影]
  thriller: {parent: film}
  city: {parent: place}
relations:
  directed by: {domain: film, range: person, inverse: director of, wordings: [helmed by]}
  height: {range: quantity, units: [m], single_valued: true}
  released:
"""


def ontology(text: str = FILMS) -> Ontology:
    return Ontology.model_validate(yaml.safe_load(text))


def write(folder: Path, text: str) -> Path:
    path = folder / ONTOLOGY_FILE
    path.write_text(text, encoding="utf-8")
    return path


# --- reading -----------------------------------------------------------------------------


def test_short_forms_are_understood(tmp_path: Path) -> None:
    read = read_ontology(write(tmp_path, FILMS))
    assert read == ontology() and read.mode == "strict"
    assert read.kinds["film"].synonyms == ("movie", "motion picture", "电影")
    assert read.relations["directed by"].domain == ("film",)
    assert read.relations["height"].single_valued
    assert Ontology.model_validate({"relations": ["cites"]}).relations["cites"].domain == ()
    assert Ontology().mode == "warn"


def test_a_text_stands_for_a_list_of_one_and_nothing_for_an_empty_one(tmp_path: Path) -> None:
    text = """
    kinds: {film: movie, book: {synonyms: novel}, song: }
    relations: {wrote: {domain: , wordings: }, drew: {wordings: , units: m}}
    gazetteer:
    """
    read = read_ontology(write(tmp_path, text))
    assert read.kinds["film"].synonyms == ("movie",) and read.kinds["book"].synonyms == ("novel",)
    assert read.kinds["song"].synonyms == () == read.gazetteer == read.relations["wrote"].domain
    assert read.relations["drew"].wordings == () and read.relations["drew"].units == ("m",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mode: loose", "'open', 'warn' or 'strict'"),
        ("kinds: {film: {parent: story}}", "the parent of the kind film, story, is no kind"),
        ("kinds: {a: {parent: b}, b: {parent: a}}", "the kind a is its own ancestor"),
        ("relations: {wrote: {domain: writer}}", "writer, in the domain of wrote, is no kind"),
        ("relations: {wrote: {domain: date}}", "date, in the domain of wrote, is no kind"),
        ("relations: {wrote: {wordings: [penned]}, drew: {wordings: [Penned]}}", "'penned' words"),
        ("relations: {wrote: {inverse: drew}, drew: {wordings: [wrote]}}", "'wrote' words"),
        ("relations: {wrote: {colour: red}}", "relations.wrote.colour"),
        ("- wrote", "must hold `mode`, `kinds` and `relations`"),
        ("relations: [", "is not YAML that can be read in line"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as error:
        read_ontology(path)
    assert words in str(error.value) and str(path) in str(error.value)


def test_wordings_name_relations_in_their_direction() -> None:
    names = ontology().by_wording
    assert names["helmed by"] == ("directed by", False)
    assert names["director of"] == ("directed by", True)
    both = ontology("relations: {parent of: {inverse: child of}, child of: {inverse: parent of}}")
    assert both.by_wording == {"parent of": ("parent of", False), "child of": ("child of", False)}


def test_a_kind_fits_its_ancestors_and_what_may_yet_be_it() -> None:
    films = ontology()
    assert films.fits("thriller", ("film",)) and films.fits("city", ("place",))
    assert films.fits("unknown", ("film",)) and films.fits("film", ())
    assert films.fits("film", ("thriller",))  # nobody knows that it is another film
    assert not films.fits("person", ("film",)) and not films.fits("film", ("person", "place"))
    stars = Ontology.model_validate({"kinds": ["constellation"]})
    assert stars.fits("place", ("constellation",)) and not stars.fits("person", ("constellation",))


def test_a_kind_without_a_parent_is_below_the_one_that_its_noun_tells() -> None:
    text = "kinds: {company: [], feature film: [], person: {}, poet: {}, vessel: [ship], lake: {}}"
    kinds = with_parents(ontology(text)).kinds
    assert {name: kind.parent for name, kind in kinds.items()} == {
        "company": "organisation", "feature film": "work", "vessel": "thing", "lake": "place",
        "person": None, "poet": None,
    }  # fmt: skip
    assert with_parents(ontology()).fits("work", ("thriller",))


def test_units_are_known_in_every_spelling() -> None:
    films = ontology("relations: {length: {units: [Metres, 公里, minutes]}}")
    units = ("m", "km", "min", "kg", "h")
    reasons = [misfit(films, "length", "unknown", "quantity", unit) for unit in units]
    assert reasons == [None, None, None, "unit", "unit"]


# --- kinds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "kind"),
    [
        ("2010 American film by a newcomer", "film"),
        ("silent motion picture", "film"),
        ("two movies", "film"),
        ("film director", None),
        ("psychological thriller", "thriller"),
        ("city in the north", "city"),
        ("一部2010年的电影", "film"),
        ("电影导演", None),
        ("", None),
    ],
)
def test_the_head_noun_tells_the_kind(phrase: str, kind: str | None) -> None:
    assert KindNouns(ontology()).of_phrase(phrase) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Solaris is a 1972 film directed by Andrei Tarkovsky.", "film"),
        ("Tula was one of the largest cities.", "city"),
        ("Tula is the oldest city of the region.", "city"),
        ("It was made into a film.", None),
        ("《飞向太空》是一部苏联电影，1972年上映。", "film"),
    ],
)
def test_a_description_tells_the_kind(text: str, kind: str | None) -> None:
    assert KindNouns(ontology()).of_description(text) == kind


def test_classes_have_head_nouns() -> None:
    phrases = ["large city in England", "English mathematician", "member of the club", "NATO", ""]
    nouns = [class_noun(phrase) for phrase in phrases]
    assert nouns == ["city", "mathematician", "member", None, None]


# --- language models ---------------------------------------------------------------------


def test_a_prompt_lists_relations_with_their_ends_and_how_binding_they_are() -> None:
    films = ontology()
    line = relations_line(films, list(films.relations))
    assert line.startswith("\nUse only these p: directed by (film → person); height (any → quant")
    free = films.model_copy(update={"mode": "warn"})
    assert "Prefer these p" in relations_line(free, ["released"])
    assert relations_line(Ontology(), []) == ""


def test_of_a_large_ontology_a_prompt_has_what_a_text_may_state() -> None:
    names = {f"relation {number}": {} for number in range(MOST_IN_PROMPT + 20)}
    names["has melting point"] = {"description": "temperature at which a solid melts"}
    large = Ontology.model_validate({"relations": names})
    chosen = relevant_relations(large, "The metal melts at a temperature of 30 degrees.")
    assert len(chosen) == MOST_IN_PROMPT and "has melting point" in chosen
    assert chosen == [name for name in names if name in chosen]


def test_another_ontology_asks_a_model_anew() -> None:
    def version(**kwargs: Any) -> str:
        model = ModelSettings(name="m", base_url="http://localhost:1/v1")
        return identity(EngineSettings(engine="openai", model=model, **kwargs))

    assert version() != version(ontology=ontology())
    assert version(ontology=ontology()) == version(ontology=ontology())


# --- editions ----------------------------------------------------------------------------


def refreshed(home: Path, text: str) -> Edition:
    """Refresh with an ontology; return the edition."""
    write(home, text)
    source = home.parent / "none.md"
    source.write_text("Nothing.\n", encoding="utf-8")
    refresh(Home(home), [str(source)], settings_of(Home(home)))
    return Home(home).require_edition()


def relations(edition: Edition) -> set[str]:
    return set(edition.table(schemas.Triple)["relation"].to_pylist())


def test_a_strict_ontology_leaves_out_what_does_not_fit_and_says_so(own_home: Path) -> None:
    first = Home(own_home).require_edition()
    before = relations(first)
    assert {"born in", "worked with"} <= before
    edition = refreshed(own_home, "mode: strict\nrelations: {born in: {range: [place, text]}}\n")
    assert relations(edition) == {"born in"}
    rows = edition.table(Misfit).to_pylist()
    reasons = {(row["head"], row["relation"], row["tail"]): row["reason"] for row in rows}
    assert all(row["left_out"] for row in rows)
    assert reasons["Ada Lovelace", "worked with", "Charles Babbage"] == "relation"
    assert reasons["Ada Lovelace", "born in", "1815"] == "tail"
    mentioned = set(edition.table(schemas.Mention)["fact_id"].to_pylist())
    assert not mentioned & {row["triple_id"] for row in rows}
    # An open one brings all back, and names the years in which people were born as they are stated.
    back = relations(refreshed(own_home, "mode: open\nrelations: [born in]\n"))
    assert before - back == {"born on"}


def test_it_applies_with_settings_of_the_run_too_unless_they_have_one(own_home: Path) -> None:
    write(own_home, FILMS)
    given = Settings(workers=3)
    own = Settings(workers=3, engine=EngineSettings(ontology=Ontology()))
    for settings, workers, wanted in (
        (None, settings_of(Home(own_home)).workers, ontology()),
        (given, 3, ontology()),
        (own, 3, Ontology()),
    ):
        chosen = RefreshKnowledge(home=own_home, sources=[], settings=settings).chosen_settings
        assert (chosen.workers, chosen.engine.ontology) == (workers, wanted)
        assert almanac.open(own_home, settings).settings == chosen


def test_a_stated_kind_leaves_out_facts_and_a_guessed_one_does_not(own_home: Path) -> None:
    edition = refreshed(
        own_home,
        "mode: strict\nkinds: [town]\n"
        "relations: {born in: {range: town}, worked with: {range: town}}\n",
    )
    kept = {(row["relation"], row["tail"]) for row in edition.table(schemas.Triple).to_pylist()}
    assert ("born in", "Bergen") in kept  # no text says what Bergen is
    assert ("worked with", "Charles Babbage") not in kept  # "an English inventor"


def test_a_lenient_one_keeps_and_lists_it(own_home: Path) -> None:
    edition = refreshed(own_home, "mode: warn\nrelations: [born in]\n")
    rows = edition.table(Misfit).to_pylist()
    assert rows and not any(row["left_out"] for row in rows)
    kept = set(edition.table(schemas.Triple)["triple_id"].to_pylist())
    assert {row["triple_id"] for row in rows} <= kept


@pytest.fixture(scope="module")
def of_scientists(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Edition:
    home = copied_home(small_home, tmp_path_factory.mktemp("scientists") / "home")
    return refreshed(Path(home), "kinds: {scientist: [mathematician, inventor, chemist]}\n")


def test_texts_tell_the_kinds_of_an_ontology(of_scientists: Edition) -> None:
    kinds = {row["name"]: row["kind"] for row in of_scientists.table(schemas.Entity).to_pylist()}
    assert kinds["Ada Lovelace"] == kinds["Charles Babbage"] == "scientist"
    assert kinds["London"] == "place"


def test_a_gazetteer_keeps_facts_about_its_entities(own_home: Path, tmp_path: Path) -> None:
    graph = tmp_path / "people.tsv"
    graph.write_text("Ada Lovelace\tknew\tCharles Babbage\n", encoding="utf-8")
    import_graph(Home(own_home), graph, settings_of(Home(own_home)), name="people")
    edition = refreshed(own_home, "mode: strict\ngazetteer: people\n")
    rows = [row for row in edition.table(schemas.Triple).to_pylist() if row["graph"] == "corpus"]
    assert {row["head"] for row in rows} == {"Ada Lovelace", "Charles Babbage"}
    assert {row["tail"] for row in rows if row["tail_id"]} == {"Charles Babbage"}
    assert {row["reason"] for row in edition.table(Misfit).to_pylist()} == {"gazetteer"}
    assert not refreshed(own_home, "mode: open\ngazetteer: people\n").table(Misfit)


def test_a_gazetteer_without_its_graph_stops_a_refresh_before_it_writes(own_home: Path) -> None:
    position = Home(own_home).journal.position
    with pytest.raises(UsageError, match="gazetteer people is no imported graph"):
        refreshed(own_home, "gazetteer: people\n")
    assert Home(own_home).journal.position == position


@pytest.mark.parametrize(
    ("text", "words"),
    [("mode: nope\n", "is invalid at mode"), ("gazetteer: people\n", "is no imported graph")],
)
def test_what_is_wrong_is_found_by_check_and_doctor_and_stops_no_question(
    own_home: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(own_home)]
    write(own_home, text)
    assert main(["ontology", "check", *home]) == 2
    assert words in capsys.readouterr().err
    finding = next(one for one in examine(Home(own_home)) if one.check == "ontology")
    assert finding.state == "fail" and words in finding.words
    assert main(["ask", "Where was Ada Lovelace born?", *home]) == 0
    assert capsys.readouterr().out.startswith("London")
    for settings in (None, Settings()):
        job = AnswerQuestions(home=own_home, questions="asked", out="answers", settings=settings)
        assert job.chosen_settings.engine.ontology is None


# --- the command -------------------------------------------------------------------------


def test_a_proposal_fits_the_edition_it_comes_from(
    own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(own_home)]
    path = tmp_path / "proposed.yaml"
    assert main(["ontology", "suggest", "--out", str(path), *home]) == 0
    assert main(["ontology", "suggest", "--out", str(path), *home]) == 2
    assert "exists already" in capsys.readouterr().err
    proposed = read_ontology(path)
    assert "born in" in proposed.relations and proposed.mode == "warn"
    assert main(["ontology", "check", str(path), "--json", *home]) == 0
    misfits = json.loads(capsys.readouterr().out)["misfits"]
    assert {row["reason"] for row in misfits} <= {"relation", "head", "tail", "several values"}
    assert "born in" not in {row["relation"] for row in misfits if row["reason"] == "relation"}


def test_a_proposal_names_every_kind_at_the_ends_of_its_relations(
    of_scientists: Edition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, home = tmp_path / "proposed.yaml", of_scientists.path.parent.parent
    arguments = ["--json", "--out", str(path), "--home", str(home)]
    assert main(["ontology", "suggest", *arguments]) == 0
    assert "scientist" in str(json.loads(capsys.readouterr().out)["relations"])
    assert "scientist" in read_ontology(path).kinds


def test_a_check_says_what_does_not_fit(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(own_home)]
    assert main(["ontology", "check", *home]) == 2
    assert "almanac ontology suggest --out" in capsys.readouterr().err
    text = "relations: {born in: {domain: place, single_valued: true}}\n"
    write(own_home, text)
    assert main(["ontology", *home]) == 0
    out, err = capsys.readouterr()
    assert "1 relation, mode warn" in err
    assert "the head is of another kind" in out and "heads with several tails" in out


def test_a_check_knows_the_relations_that_the_next_edition_will_rename(own_home: Path) -> None:
    edition = Home(own_home).require_edition()

    def reasons(text: str) -> set[str]:
        rows = misfits(edition, ontology(text))
        return {row["reason"] for row in rows if row["relation"] == "born in"}

    assert reasons("relations: [wrote]") == {"relation"}
    assert reasons("relations: {birthplace: {range: [place, date], wordings: [Born in]}}") == set()
    assert reasons("relations: {birthplace: {domain: place, wordings: [born in]}}") == {"head"}
    assert "head" not in reasons("relations: {bore: {domain: place, inverse: born in}}")
    assert "head" in reasons("relations: {bore: {domain: person, inverse: born in}}")


@pytest.mark.parametrize(
    ("ontology", "least"),
    [
        ({"mode": "strict"}, STRICT_CONFIDENCE),
        ({"mode": "warn"}, 0.7),
        ({"mode": "strict", "min_confidence": 0.6}, 0.6),
        ({"min_confidence": 0.1}, 0.1),
    ],
)
def test_facts_of_an_ontology_have_a_least_confidence_of_their_own(
    ontology: dict[str, object], least: float
) -> None:
    assert Ontology.model_validate(ontology).least_confidence(0.7) == least
