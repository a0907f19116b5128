"""MetaQA: questions of one, two and three hops over a graph of films (Zhang et al. 2018).

A folder per number of hops holds `qa_dev.txt` (question, tab, answers separated by bars; the topic
entity is in brackets). Files beside it have one line per question: `_qtype.txt` the type of
question, `_exact.txt` whether the gold answers follow from the graph. The graph is `kb.txt` in the
folder above.
"""

import re
from itertools import pairwise
from pathlib import Path

from schemas.errors import AlmanacError
from tasks.questions.files import beside, lines, part_of, plain_name, question_files
from tasks.questions.question import Benchmark, BenchmarkQuestion, GraphSource

GRAPH = "metaqa"
_TOPIC = re.compile(r"\[(.+?)\]")
_RELATIONS = {
    "actor": "starred_actors",
    "director": "directed_by",
    "writer": "written_by",
    "year": "release_year",
    "genre": "has_genre",
    "language": "in_language",
    "tag": "has_tags",
    "tags": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}
_HOPS = re.compile(r"(\d)-?hop", re.IGNORECASE)


def read_metaqa(path: Path) -> Benchmark:
    """Return the questions in a file or in all files of a folder."""
    files = question_files(path, r"(^|/)qa_(?!.*_(qtype|exact)\.txt$)\w+\.txt$")
    graph = beside(files[0], "kb.txt") or beside(path, "kb.txt")
    return Benchmark(
        name="metaqa",
        questions=[question for file in files for question in _questions(file)],
        graphs=[GraphSource(GRAPH, graph)] if graph else [],
        halves=True,
    )


def _questions(file: Path) -> list[BenchmarkQuestion]:
    stem = plain_name(file).removesuffix(".txt")
    rows = [line for line in lines(file) if line.strip()]
    kinds = _beside_each(file, f"{stem}_qtype.txt", len(rows))
    exact = _beside_each(file, f"{stem}_exact.txt", len(rows))
    named_hops = _HOPS.search(file.parent.name) or _HOPS.search(stem)
    questions = []
    for number, (row, kind, mark) in enumerate(zip(rows, kinds, exact, strict=True)):
        question, tab, answers = row.partition("\t")
        topic = _TOPIC.search(question)
        if not tab or not topic:
            raise AlmanacError(
                f"{file}, line {number + 1}: a question has its topic in brackets, a tab and "
                "answers between bars."
            )
        hops = int(named_hops[1]) if named_hops else kind.count("_to_") or None
        questions.append(
            BenchmarkQuestion(
                id=f"{file.parent.name}/{stem}/{number + 1}",
                question=_TOPIC.sub(r"\1", question, count=1),
                answers=tuple(answer for answer in answers.split("|") if answer),
                dataset=f"metaqa {hops}-hop",
                graph=GRAPH,
                hops=hops,
                topic=topic[1],
                kind=kind,
                gold=_relations(kind),
                exact=None if not mark else mark == "1",
                part=part_of(file),
                split_key=topic[1],
            )
        )
    return questions


def _relations(kind: str) -> tuple[str, ...]:
    """Return the relations of a type such as `movie_to_actor_to_movie`: every hop has a film."""
    others = ["".join({*step} - {"movie"}) for step in pairwise(kind.split("_to_"))]
    return tuple(_RELATIONS[other] for other in others if other in _RELATIONS)


def _beside_each(file: Path, name: str, rows: int) -> list[str]:
    """Return the line for each question in a file beside them; empty strings without the file."""
    annotations = beside(file, name)
    if annotations is None or annotations.parent != file.parent:
        return [""] * rows
    values = [line.strip() for line in lines(annotations) if line.strip()]
    if len(values) != rows:
        raise AlmanacError(f"{annotations} has {len(values)} lines for {rows} questions.")
    return values
