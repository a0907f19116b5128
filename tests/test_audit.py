"""`almanac audit`: what is shown, asked, kept, rejected and reported."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from flows.__main__ import main
from flows.audit_form import read_form, write_form
from schemas.settings import load_settings
from schemas.verdicts import Verdict
from tasks.audit import Plan, draw, keep_verdicts, report, verdicts_in_force
from tasks.refresh import refresh
from warehouse.editions import Edition
from warehouse.home import Home


def audit(home: Path, *options: str) -> int:
    try:
        return main(["audit", *options, "--home", str(home)])
    except SystemExit as end:
        return int(end.code or 0)


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def rows(home: Path, query: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["sql", query, "--json", "--home", str(home)]) == 0
    shown: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return shown


def built_again(home: Path) -> None:
    refresh(Home(home), [str(home / "none.md")], load_settings(home))


@pytest.fixture
def refreshed(own_home: Path) -> Path:
    """A home with a file that a refresh can name without another change."""
    (own_home / "none.md").write_text("# Thames\n\nThe Thames is a river.\n")
    built_again(own_home)
    return own_home


def test_a_fact_is_shown_without_the_front_matter_before_it(own_home, tmp_path):
    text = "---\nauthor: Ida Moe\n---\n\nNora Field was born in Ulm.\n"
    (own_home / "none.md").write_text(text)
    built_again(own_home)
    form = tmp_path / "facts.jsonl"
    assert audit(own_home, "--relation", "born in", "--write", str(form)) == 0
    [shown] = [json.loads(line) for line in form.read_text().splitlines() if "Ulm" in line]
    assert shown["text"] == "«Nora Field was born in Ulm».\n"


def test_each_verdict_is_kept_at_once_and_the_place_is_marked(own_home, monkeypatch, capsys):
    answer(monkeypatch, "u", "s", "what?", "useless", "w", "q", "u")
    assert audit(own_home, "--kind", "triples", "--json") == 0
    out, err = capsys.readouterr()
    done = json.loads(out)
    assert (done["kept"], done["rejected"], done["verdicts"]) == (3, 1, 3)
    assert "«" in err and "»" in err and err.count("[5 of ") == 1 and "[6 of " not in err
    assert [row["verdict"] for row in Home(own_home).journal.table(Verdict).to_pylist()] == [
        "useful",
        "useless",
        "wrong",
    ]
    answer(monkeypatch)  # the input ends: nothing is lost, nothing is asked twice
    assert audit(own_home, "--kind", "triples", "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["kept"], again["verdicts"]) == (0, 3)


def test_a_wrong_fact_is_left_out_until_the_correction_is_withdrawn(refreshed, capsys):
    home = Home(refreshed)
    edition = home.editions.current()
    assert edition is not None
    facts = [
        fact
        for kind in ("triples", "descriptions", "notes", "statements", "aliases")
        for fact in draw(home, edition, Plan(limit=1, kinds=(kind,)))
    ]
    assert [fact["fact_kind"] for fact in facts] == [
        "triple",
        "description",
        "aspect",
        "statement",
        "alias",
    ]
    assert keep_verdicts(home, [(fact, "wrong") for fact in facts]) == (5, 5)
    built_again(refreshed)
    edition = home.editions.current()
    assert edition is not None
    left = {row["fact_id"] for row in draw(home, edition, Plan(limit=1000))}
    assert left.isdisjoint(fact["fact_id"] for fact in facts)
    assert len(rows(refreshed, "from verdicts", capsys)) == 5
    changes = rows(refreshed, "select fact_id, kind, cause from changes", capsys)
    assert {"fact_id": facts[0]["fact_id"], "kind": "gone", "cause": "override"} in changes
    for row in verdicts_in_force(home).values():
        override = ["override", "withdraw", row["override_id"], "--home", str(refreshed)]
        assert main(override) == 0
    assert verdicts_in_force(home) == {}
    built_again(refreshed)
    edition = home.editions.current()
    assert edition is not None
    back = {row["fact_id"] for row in draw(home, edition, Plan(limit=1000))}
    assert back >= {fact["fact_id"] for fact in facts}


def test_a_verdict_that_changes_takes_the_rejection_back(own_home):
    home = Home(own_home)
    edition = home.editions.current()
    assert edition is not None
    [fact] = draw(home, edition, Plan(limit=1))
    assert keep_verdicts(home, [(fact, "wrong")]) == (1, 1)
    assert keep_verdicts(home, [(fact, "wrong")]) == (0, 0)
    assert keep_verdicts(home, [(fact, "useful")]) == (1, 0)
    [verdict] = verdicts_in_force(home).values()
    assert (verdict["verdict"], verdict["override_id"]) == ("useful", None)
    assert main(["override", "list", "--json", "--home", str(own_home)]) == 0


def test_verdicts_correct_the_confidence_of_facts_that_nobody_judged(refreshed, capsys):
    before = rows(refreshed, "select triple_id, confidence from triples", capsys)
    home = Home(refreshed)
    edition = home.editions.current()
    assert edition is not None
    judged = draw(home, edition, Plan(limit=4, kinds=("triples",)))
    keep_verdicts(home, [(fact, "useless") for fact in judged])
    built_again(refreshed)
    after = {
        row["triple_id"]: row["confidence"]
        for row in rows(refreshed, "select triple_id, confidence from triples", capsys)
    }
    common = [row for row in before if row["triple_id"] in after]
    assert common and all(after[row["triple_id"]] < row["confidence"] for row in common)
    query = "select distinct engine_confidence > confidence as lower from mentions where "
    assert rows(refreshed, query + "fact_kind = 'triple'", capsys) == [{"lower": True}]
    assert rows(refreshed, query + "fact_kind <> 'triple'", capsys) == [{"lower": False}]


@pytest.mark.parametrize("name", ["facts.csv", "facts.jsonl"])
def test_a_file_is_written_filled_in_and_read_back(name, own_home, tmp_path, capsys):
    path = tmp_path / name
    assert audit(own_home, "--write", str(path), "--limit", "6", "--by", "kind") == 0
    assert "6 facts" in capsys.readouterr().out
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
    assert audit(own_home, "--read", str(path), "--json") == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["kept"], done["rejected"], done["gone"], done["verdicts"]) == (5, 2, 0, 5)
    assert audit(own_home, "--read", str(path), "--json") == 0
    assert json.loads(capsys.readouterr().out)["kept"] == 0
    assert audit(own_home, "--write", str(path)) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["facts.xlsx", "facts"])
def test_a_format_that_is_not_written_is_refused(name, own_home, tmp_path, capsys):
    assert audit(own_home, "--write", str(tmp_path / name)) == 2
    assert ".csv as CSV" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["facts.csv", "facts.jsonl"])
def test_hostile_texts_come_back_whole_and_are_no_formulas(name, own_home, tmp_path):
    home, path = Home(own_home), tmp_path / name
    edition = home.editions.current()
    assert edition is not None
    facts = draw(home, edition, Plan(limit=2))
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
def test_a_damaged_file_is_explained(name, text, words, own_home, tmp_path, capsys):
    (tmp_path / name).write_text(text)
    assert audit(own_home, "--read", str(tmp_path / name)) == 2
    out, err = capsys.readouterr()
    assert words in err and not out and len(err.splitlines()) == 1


def test_a_wrong_verdict_is_named_by_row_and_column_and_nothing_is_kept(own_home, tmp_path, capsys):
    path = tmp_path / "facts.jsonl"
    assert audit(own_home, "--write", str(path), "--limit", "3") == 0
    forms = [json.loads(line) for line in path.read_text().splitlines()]
    forms[0]["verdict"], forms[1]["verdict"] = "u", "maybe"
    path.write_text("".join(json.dumps(form) + "\n" for form in forms))
    assert audit(own_home, "--read", str(path)) == 2
    error = capsys.readouterr().err
    assert "row 2, column verdict: 'maybe' is no verdict; write useful (u)" in error
    assert Home(own_home).journal.table(Verdict).num_rows == 0


def test_sensitive_facts_stay_out_of_files_and_are_marked(tmp_path, monkeypatch, capsys):
    (tmp_path / "secret.md").write_text("# Ada\n\nAda Lovelace was born in London.\n")
    home, form = tmp_path / "home", tmp_path / "facts.csv"
    home.mkdir()
    (home / "settings.toml").write_text('[engine]\nencoder = "none"\n')
    refresh(Home(home), [str(tmp_path / "secret.md")], load_settings(home), sensitive=True)
    assert audit(home, "--write", str(form)) == 0
    assert "0 facts" in (out := capsys.readouterr().out) and "sensitive facts were left out" in out
    assert "Lovelace" not in form.read_text()
    answer(monkeypatch, "u")
    assert audit(home) == 0
    assert "(sensitive)" in capsys.readouterr().err
    assert {row["sensitivity"] for row in verdicts_in_force(Home(home)).values()} == {"sensitive"}


def test_two_audits_at_once_ask_about_a_fact_once(own_home, monkeypatch, capsys):
    other = Home(own_home)
    edition = other.editions.current()
    assert edition is not None
    facts = draw(other, edition, Plan(limit=3))

    class Typing:
        """Somebody who judges the first fact, while another judges the second elsewhere."""

        lines = iter(["u\n", "n\n", ""])

        def readline(self) -> str:
            keep_verdicts(other, [(facts[1], "wrong")])
            return next(self.lines)

    monkeypatch.setattr("sys.stdin", Typing())
    assert audit(own_home, "--limit", "3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["verdicts"] == 3
    judged = verdicts_in_force(other)
    assert [judged[fact["fact_id"]]["verdict"] for fact in facts] == ["useful", "wrong", "useless"]


def test_precision_is_weighed_back_to_the_sizes_of_strata(own_home):
    home = Home(own_home)
    edition = home.editions.current()
    assert edition is not None
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


def test_what_cannot_be_drawn_is_explained(own_home, capsys):
    assert audit(own_home, "--kind", "triples", "--relation", "no such") == 2
    assert "The edition has no triples of relation no such" in capsys.readouterr().err
    assert audit(own_home, "--kind", "nonsense") == 2
    assert audit(own_home, "--report") == 0
    assert "no verdicts yet" in capsys.readouterr().out


def test_an_edition_of_an_older_version_is_explained(own_home, monkeypatch, capsys):
    def older(edition: Edition) -> duckdb.DuckDBPyConnection:
        con = duckdb.connect()
        con.execute("create table mentions (fact_id varchar)")
        return con

    monkeypatch.setattr(Edition, "connect", older)
    assert audit(own_home) == 2
    assert "built by an older version. Refresh first" in capsys.readouterr().err
