"""MidtermQA (Feng et al. 2024): the winners of races in 2022, open or with two or four choices."""

import re
from pathlib import Path
from typing import Any

from schemas.errors import AlmanacError
from tasks.questions.files import beside, plain_name, question_files, read_json
from tasks.questions.question import Benchmark, BenchmarkQuestion, GraphSource, Part

GRAPH = "congress"
_MAPPING = Path(__file__).resolve().parents[3] / "examples" / "mappings" / "congress.yaml"
_RACE = re.compile(r"the (senate|governor) race of ([\w' ]+?) in the 2022")
_DISTRICT = re.compile(r"the (\d+)\w\w congressional district of ([\w' ]+?) in the 2022")
_LETTERS = "ABCD"
# Districts whose label is not the person elected.
_WRONG = {("Texas", "32"), ("Kentucky", "1"), ("California", "45"), ("Minnesota", "8")}


def read_midtermqa(path: Path) -> Benchmark:
    """Return the questions in (MidtermQA-)openbook.json, binary.json and fourchoice.json.

    The demonstrations are the training part. `exact` is false for the four wrong labels.
    """
    files = question_files(path, r"(^|[/-])(openbook|binary|fourchoice)\.json$")
    questions = []
    for file in files:
        content = read_json(file)
        parts: dict[str, Part] = {"demos": "train", "testset": "test"}
        for name, part in parts.items():
            rows = content.get(name, []) if isinstance(content, dict) else []
            questions += [_question(file, part, row) for row in rows]
    congress = beside(files[0], GRAPH)
    graphs = [GraphSource(GRAPH, congress, mapping=_MAPPING)] if congress else []
    return Benchmark("midtermqa", questions, graphs)


def _question(file: Path, part: Part, row: Any) -> BenchmarkQuestion:
    form = plain_name(file).removesuffix(".json").rpartition("-")[2]
    try:
        question, _, offered = row["question"].partition("\n")
        letter_or_name, number = row["answer"].strip(), row["id"]
    except (KeyError, TypeError, AttributeError) as error:
        raise AlmanacError(f"{file}: a question needs `question`, `answer` and `id`.") from error
    choices = _choices(offered)
    race, district = _RACE.search(question), _DISTRICT.search(question)
    return BenchmarkQuestion(
        id=f"{form}/{part}/{number}",
        question=question,
        answers=(choices.get(letter_or_name, letter_or_name),),
        choices=tuple(choices.values()),
        dataset=f"midtermqa {form}",
        graph=GRAPH,
        kind=race[1] if race else "house",
        exact=not district or (district[2], district[1]) not in _WRONG,
        part=part,
        label=letter_or_name if choices else None,
        scoring="choice" if choices else "text",
    )


def _choices(text: str) -> dict[str, str]:
    """Return the names by their letters, which come in order; a letter may also be an initial.

    Each name takes several words before the next letter if any position allows it.
    """
    marks: list[re.Match[str]] = []
    for letter in _LETTERS:
        at = marks[-1].end() if marks else 0
        mark = re.compile(rf"(?:^|(?<!\b[A-Z]\.)\s){letter}\. ")
        matches = list(mark.finditer(text, at))
        if not matches:
            break
        whole = (m for m in matches if not marks or len(text[at : m.start()].split()) > 1)
        marks.append(next(whole, matches[0]))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return {
        letter: text[mark.end() : end].strip()
        for letter, mark, end in zip(_LETTERS, marks, ends, strict=False)
    }
