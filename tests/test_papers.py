"""The papers' tables: published figures agree with each other, and ours stand beside them."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.benchmark_runs import REPOSITORY, run_benchmark

PAPERS = REPOSITORY / "benchmarks" / "papers"
BY_PAPER: dict[str, list[dict[str, Any]]] = {
    file.stem: tomllib.loads(file.read_text(encoding="utf-8"))["table"]
    for file in sorted(PAPERS.glob("*.toml"))
}
SHARES = ("scarce", "medium", "abundant")
NUMBERS = {"knowledgpt": 4, "cook": 5, "knowgpt": 4, "thrust": 6}
TABLES = [(paper, table) for paper, tables in BY_PAPER.items() for table in tables]
NAMED = [f"{paper} {table['number']}: {table['title'][:30]}" for paper, table in TABLES]


def figures(paper: str, number: int) -> dict[tuple[str, str], dict[str, float]]:
    """Return the published figures of a paper's first table of a number, by row and model."""
    table = next(table for table in BY_PAPER[paper] if table["number"] == number)
    return {
        (name, model): dict(zip(table["columns"], values, strict=True))
        for name, model, values in table["row"]
    }


def test_every_table_of_every_paper_is_there():
    found = {paper: {table["number"] for table in tables} for paper, tables in BY_PAPER.items()}
    assert found == {paper: set(range(1, last + 1)) for paper, last in NUMBERS.items()}


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=NAMED)
def test_a_row_has_a_figure_for_every_column(paper, table):
    columns, names = len(table["columns"]), [name for name, *_ in table["row"]]
    ours, runs = table.get("ours", []), table.get("run", [])
    widths = [len(values) for _, _, values in table["row"]]
    widths += [len(row["values"]) for row in ours] + [len(run["cells"]) for run in runs]
    assert set(widths) <= {columns}
    assert len(set(names)) == len(names)
    beside = {row.get("beside", "") for row in ours}
    meant = [run.get(part, {}).values() for run in runs for part in ("rows", "modes")]
    assert beside.union(*meant) - {""} <= set(names)


def test_thrusts_first_tables_are_the_random_baseline():
    by_size, by_gate = figures("thrust", 1), figures("thrust", 2)
    chosen = [t for t in BY_PAPER["thrust"] if t["number"] == 6 and t["row"]]
    alone = [dict(zip(t["columns"], t["row"][-1][2], strict=True)) for t in chosen]
    known = alone[0] | alone[1]
    names = {"WQ": "Web Questions", "TREC": "Curated TREC"}
    for (name, _), row in by_size.items():
        scarce, medium, abundant = (row[f"3b {share}"] for share in SHARES)
        assert (scarce + abundant) / 2 == pytest.approx(medium, abs=0.11), name
        full = known[f"{names.get(name, name)} with"]
        assert 2 * abundant - medium == pytest.approx(full, abs=0.16), name
    for row in by_gate.values():
        assert [*row.values()][:3] == [*row.values()][3:]


def test_knowgpts_ablations_agree_with_its_main_table():
    main, paths, formats = (figures("knowgpt", number) for number in (1, 3, 4))
    whole = main["KnowGPT", "gpt-3.5-turbo"]
    again = paths["KnowGPT", "gpt-3.5-turbo"]
    assert again == {column: whole[column] for column in again}
    for strategy in ("P_sub", "P_RL"):
        sentences = formats[f"{strategy}, sentences", "gpt-3.5-turbo"]
        assert paths[strategy, "gpt-3.5-turbo"] == sentences


def test_cooks_retrieval_is_the_same_with_wikipedia_alone():
    whole, wikipedia = figures("cook", 2), figures("cook", 4)
    retrieval = [("REPLUG", "code-davinci-002"), ("REPLUG LSR", "code-davinci-002")]
    assert [whole[row] for row in retrieval] == [wikipedia[row] for row in retrieval]


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", NUMBERS)
def test_kept_figures_stand_beside_the_published_ones(paper):
    code, out, err = run_benchmark("papers", paper, "3")
    assert code == 0, err
    assert "Table 3." in out and "· " in out


def test_a_table_is_measured_anew_on_questions_that_are_given(tmp_path: Path):
    rows = [
        {"question": f"{n}?", "answers": ["a"], "knowledge": "a", "dataset": "made",
         "outcomes": {"small": [n % 2, 1]}}
        for n in range(8)
    ]  # fmt: skip
    given = tmp_path / "made.jsonl"
    given.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    asked = ["--run", "--json", "--questions", str(given), "--format", "jsonl"]
    code, out, err = run_benchmark("papers", "thrust", "6", *asked, "--home", str(tmp_path / "h"))
    assert code == 0, err
    *published, here = json.loads(out)
    assert published[0]["rows"][0]["not here"] == "not at hand"
    [row] = here["other rows"]
    assert (row["name"], row["by"], row["questions"]) == ("made", "small", "8")
    assert [value[0] for value in row["values"]] == [50.0, 100.0]


def test_what_is_not_at_hand_is_said_in_a_line():
    code, out, err = run_benchmark("papers", "cook", "1", "--run")
    assert (code, out) == (1, "")
    assert "--questions PATH --format mmlu" in err and "Traceback" not in err
    code, out, err = run_benchmark("papers", "cook", "6")
    assert (code, out) == (1, "") and "tables 1 to 5" in err
