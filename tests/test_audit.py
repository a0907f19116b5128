"""`almanac audit`: what is shown, asked, kept, rejected and reported."""

import csv
import io
import json
from pathlib import Path

import pytest

from flows.audit_form import read_form, write_form
from schemas.settings import load_settings
from schemas.verdicts import Verdict
from tasks.audit import Plan, draw, keep_verdicts, report, verdicts_in_force
from tasks.refresh import refresh
from tasks.run import RunReport
from tests.current_edition import current
from warehouse.home import Home


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def built_again(home: Path) -> RunReport:
    return refresh(Home(home), [str(home / "none.md")], load_settings(home))


@pytest.fixture
def refreshed(own_home: Path) -> Path:
    """A home with a file that a refresh can name without another change."""
    (own_home / "none.md").write_text("# Thames\n\nThe Thames is a river.\n")
    built_again(own_home)
    return own_home


def test_a_fact_is_shown_without_the_front_matter_before_it(own_home, tmp_path, almanac):
    text = "---\nauthor: Ida Moe\n---\n\nNora Field was born in Ulm.\n"
    (own_home / "none.md").write_text(text)
    built_again(own_home)
    form = tmp_path / "facts.jsonl"
    almanac.shown(own_home, "audit", "--relation", "born in", "--write", str(form))
    [shown] = [json.loads(line) for line in form.read_text().splitlines() if "Ulm" in line]
    assert shown["text"] == "«Nora Field was born in Ulm».\n"


def test_words_around_a_fact_are_whole_and_a_mark_says_that_there_are_more(own_home):
    words = "lighthouse " * 60
    (own_home / "none.md").write_text(f"{words}\n\nNora Field was born in Ulm.\n\n{words}")
    built_again(own_home)
    drawn = draw(Home(own_home), current(own_home), Plan(kinds=("triples",), relation="born in"))
    [text] = [fact["text"] for fact in drawn if "Ulm" in fact["fact"]]
    before, after = text.split("«Nora Field was born in Ulm»")
    assert before.startswith("… lighthouse") and after.endswith("lighthouse …")


def test_each_verdict_is_kept_at_once_and_the_place_is_marked(own_home, monkeypatch, almanac):
    answer(monkeypatch, "u", "s", "what?", "useless", "w", "q", "u")
    code, out, err = almanac(own_home, "audit", "--kind", "triples", "--json")
    done = json.loads(out)
    assert code == 0 and (done["kept"], done["rejected"], done["verdicts"]) == (3, 1, 3)
    assert "«" in err and "»" in err and err.count("[5 of ") == 1 and "[6 of " not in err
    kept = Home(own_home).journal.table(Verdict)["verdict"].to_pylist()
    assert kept == ["useful", "useless", "wrong"]
    answer(monkeypatch)  # the input ends: nothing is lost, nothing is asked twice
    again = almanac.json(own_home, "audit", "--kind", "triples")
    assert (again["kept"], again["verdicts"]) == (0, 3)


def test_a_wrong_fact_is_left_out_until_the_correction_is_withdrawn(refreshed, almanac):
    home = Home(refreshed)
    kinds = ("triples", "descriptions", "notes", "statements", "aliases")
    plans = [Plan(limit=1, kinds=(kind,)) for kind in kinds]
    facts = [fact for plan in plans for fact in draw(home, current(refreshed), plan)]
    fact_kinds = [fact["fact_kind"] for fact in facts]
    assert fact_kinds == ["triple", "description", "aspect", "statement", "alias"]
    assert keep_verdicts(home, [(fact, "wrong") for fact in facts]) == (5, 5)
    assert built_again(refreshed).counts["corrections"]["triple gone"] == 1
    left = {row["fact_id"] for row in draw(home, current(refreshed), Plan(limit=1000))}
    assert left.isdisjoint(fact["fact_id"] for fact in facts)
    assert len(almanac.rows(refreshed, "from verdicts")) == 5
    changes = almanac.rows(refreshed, "select fact_id, kind, cause from changes")
    assert {"fact_id": facts[0]["fact_id"], "kind": "gone", "cause": "override"} in changes
    for row in verdicts_in_force(home).values():
        almanac.shown(refreshed, "override", "withdraw", row["override_id"])
    assert verdicts_in_force(home) == {}
    built_again(refreshed)
    back = {row["fact_id"] for row in draw(home, current(refreshed), Plan(limit=1000))}
    assert back >= {fact["fact_id"] for fact in facts}


def test_a_verdict_that_changes_takes_the_rejection_back(own_home, almanac):
    home = Home(own_home)
    [fact] = draw(home, current(own_home), Plan(limit=1))
    assert keep_verdicts(home, [(fact, "wrong")]) == (1, 1)
    assert keep_verdicts(home, [(fact, "wrong")]) == (0, 0)
    assert keep_verdicts(home, [(fact, "useful")]) == (1, 0)
    [verdict] = verdicts_in_force(home).values()
    assert (verdict["verdict"], verdict["override_id"]) == ("useful", None)
    almanac.json(own_home, "override", "list")


def test_verdicts_correct_the_confidence_of_facts_that_nobody_judged(refreshed, almanac):
    triples, home = "select triple_id, confidence from triples", Home(refreshed)
    before = almanac.rows(refreshed, triples)
    judged = draw(home, current(refreshed), Plan(limit=4, kinds=("triples",)))
    keep_verdicts(home, [(fact, "useless") for fact in judged])
    built_again(refreshed)
    after = {row["triple_id"]: row["confidence"] for row in almanac.rows(refreshed, triples)}
    common = [row for row in before if row["triple_id"] in after]
    assert common and all(after[row["triple_id"]] < row["confidence"] for row in common)
    query = "select distinct engine_confidence > confidence as lower from mentions where "
    assert almanac.rows(refreshed, query + "fact_kind = 'triple'") == [{"lower": True}]
    assert almanac.rows(refreshed, query + "fact_kind <> 'triple'") == [{"lower": False}]


def test_verdicts_on_cells_leave_the_confidence_of_sentences_as_it_is(refreshed, almanac):
    table = "\n".join(f"| {name} | {name}ville |" for name in ("Anvia", "Brolo", "Cressia"))
    text = f"| Country | Capital |\n|---|---|\n{table}\n\nNora Field was born in Ulm.\n"
    (refreshed / "none.md").write_text(f"# Countries\n\n{text}")
    built_again(refreshed)
    home, query = Home(refreshed), "select relation, confidence from triples"
    before = {row["relation"]: row["confidence"] for row in almanac.rows(refreshed, query)}
    cells = draw(home, current(refreshed), Plan(limit=2, kinds=("triples",), relation="capital"))
    keep_verdicts(home, [(fact, "useless") for fact in cells])
    built_again(refreshed)
    after = {row["relation"]: row["confidence"] for row in almanac.rows(refreshed, query)}
    assert {name: after[name] < before[name] for name in ("capital", "born in")} == {
        "capital": True, "born in": False
    }  # fmt: skip


@pytest.mark.parametrize("name", ["facts.csv", "facts.jsonl"])
def test_a_file_is_written_filled_in_and_read_back(name, own_home, tmp_path, almanac):
    path = tmp_path / name
    write = ["audit", "--write", str(path)]
    assert "6 facts" in almanac.shown(own_home, *write, "--limit", "6", "--by", "kind")
    text = path.read_text(encoding="utf-8")
    forms = list(csv.DictReader(io.StringIO(text, newline="")))
    if name.endswith("jsonl"):
        forms = [json.loads(line) for line in text.splitlines()]
    for form, verdict in zip(forms, ["u", "useful", "N", "wrong", "", "w"], strict=True):
        form["verdict"] = verdict
    with path.open("w", encoding="utf-8", newline="") as file:
        if name.endswith("jsonl"):
            file.writelines(json.dumps(form) + "\n" for form in forms)
        else:
            writer = csv.DictWriter(file, list(forms[0]))
            writer.writeheader()
            writer.writerows(forms)
    done = almanac.json(own_home, "audit", "--read", str(path))
    assert (done["kept"], done["rejected"], done["gone"], done["verdicts"]) == (5, 2, 0, 5)
    assert almanac.json(own_home, "audit", "--read", str(path))["kept"] == 0
    assert "exists already" in almanac.refused(own_home, *write)


@pytest.mark.parametrize("name", ["facts.xlsx", "facts"])
def test_a_format_that_is_not_written_is_refused(name, own_home, tmp_path, almanac):
    assert ".csv as CSV" in almanac.refused(own_home, "audit", "--write", str(tmp_path / name))
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["facts.csv", "facts.jsonl"])
def test_hostile_texts_come_back_whole_and_are_no_formulas(name, own_home, tmp_path):
    path = tmp_path / name
    facts = draw(Home(own_home), current(own_home), Plan(limit=2))
    facts[0] |= {"fact": "=1+1", "text": 'a\u2028b\x0c\x85"c"\r\n;d'}
    assert write_form(path, facts) == 2
    filled = path.read_bytes().decode().replace('"verdict": ""', '"verdict": "u"')
    filled = filled.replace("\r\n,", "\r\nu,")
    path.write_bytes(filled.encode())
    rows = [row for row, _ in read_form(path)]
    assert [row["fact_id"] for row in rows] == [fact["fact_id"] for fact in facts]
    assert rows[0]["text"] == facts[0]["text"]
    assert rows[0]["fact"] == ("'=1+1" if name.endswith("csv") else "=1+1")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "verdict,fact_id\nu,x\n", "row 2 lacks the column audit_id"),
        ("a.csv", "", "has no rows"),
        ("a.jsonl", "{", "row 1 is no JSON"),
        ("a.jsonl", "[]", "row 1 is no JSON object"),
    ],
)
def test_a_damaged_file_is_explained(name, text, words, own_home, tmp_path, almanac):
    (tmp_path / name).write_text(text)
    assert words in almanac.refused(own_home, "audit", "--read", str(tmp_path / name))


def test_a_wrong_verdict_is_named_by_row_and_column_and_nothing_is_kept(
    own_home, tmp_path, almanac
):
    path = tmp_path / "facts.jsonl"
    almanac.shown(own_home, "audit", "--write", str(path), "--limit", "3")
    forms = [json.loads(line) for line in path.read_text().splitlines()]
    forms[0]["verdict"], forms[1]["verdict"] = "u", "maybe"
    path.write_text("".join(json.dumps(form) + "\n" for form in forms))
    error = almanac.refused(own_home, "audit", "--read", str(path))
    assert "row 2, column verdict: 'maybe' is no verdict; write useful (u)" in error
    assert Home(own_home).journal.table(Verdict).num_rows == 0


def test_sensitive_facts_stay_out_of_files_and_are_marked(tmp_path, monkeypatch, almanac):
    (tmp_path / "secret.md").write_text("# Ada\n\nAda Lovelace was born in London.\n")
    home, form = tmp_path / "home", tmp_path / "facts.csv"
    home.mkdir()
    (home / "settings.toml").write_text('[engine]\nencoder = "none"\n')
    refresh(Home(home), [str(tmp_path / "secret.md")], load_settings(home), sensitive=True)
    out = almanac.shown(home, "audit", "--write", str(form))
    assert "0 facts" in out and "sensitive facts were left out" in out
    assert "Lovelace" not in form.read_text()
    answer(monkeypatch, "u")
    code, _, err = almanac(home, "audit")
    assert code == 0 and "(sensitive)" in err
    assert {row["sensitivity"] for row in verdicts_in_force(Home(home)).values()} == {"sensitive"}


def test_two_audits_at_once_ask_about_a_fact_once(own_home, monkeypatch, almanac):
    other = Home(own_home)
    facts = draw(other, current(own_home), Plan(limit=3))

    class Typing:
        """Somebody who judges the first fact, while another judges the second elsewhere."""

        lines = iter(["u\n", "n\n", ""])

        def readline(self) -> str:
            keep_verdicts(other, [(facts[1], "wrong")])
            return next(self.lines)

    monkeypatch.setattr("sys.stdin", Typing())
    assert almanac.json(own_home, "audit", "--limit", "3")["verdicts"] == 3
    judged = verdicts_in_force(other)
    assert [judged[fact["fact_id"]]["verdict"] for fact in facts] == ["useful", "wrong", "useless"]


def test_precision_is_weighed_back_to_the_sizes_of_strata(own_home):
    home, edition = Home(own_home), current(own_home)
    facts = draw(home, edition, Plan(limit=2, kinds=("triples",), by="relation"))
    sized = [fact | {"population": size} for fact, size in zip(facts, (90, 10), strict=True)]
    keep_verdicts(home, [(sized[0], "useful"), (sized[1], "wrong")])
    [kind] = [row for row in report(home)["precision"] if row["by"] == "kind"]
    assert (kind["useful"], kind["wrong"], kind["verdicts"]) == (0.9, 0.1, 2)
    restricted = draw(home, edition, Plan(limit=1, kinds=("triples",), relation="born in"))
    keep_verdicts(home, [(fact, "wrong") for fact in restricted])
    [kind] = [row for row in report(home)["precision"] if row["by"] == "kind"]
    assert kind["verdicts"] == 2  # a sample of one relation says nothing of all triples
    named = {r["group"]: r for r in report(home)["precision"] if r["by"] == "relation"}
    assert named["born in"]["wrong"] > 0


def test_what_cannot_be_drawn_is_explained(own_home, almanac):
    error = almanac.refused(own_home, "audit", "--kind", "triples", "--relation", "no such")
    assert "The edition has no triples of relation no such" in error
    assert almanac(own_home, "audit", "--kind", "nonsense")[0] == 2
    assert "no verdicts yet" in almanac.shown(own_home, "audit", "--report")
