"""Benchmark files that are not as they should be: refused in plain words, or read as texts."""

import gzip
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import AlmanacError
from tasks.questions.formats import READERS, read_benchmark
from tests.benchmark_files import read

GATED = [name for name, reader in READERS.items() if reader.__module__.rsplit(".", 1)[-1] not in
         ("metaqa", "pathquestion", "nlpcc", "midtermqa", "questions_file")]  # fmt: skip


@pytest.mark.parametrize("name", GATED)
def test_malformed_files_are_named_with_their_line(name: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    for line in ('{"unknown": 1}', '{"question": 5, "answer": [[]], "label": "?", "answerKey": 1}'):
        broken.write_text(f"\n{line}\n", encoding="utf-8")
        with pytest.raises(AlmanacError, match=r"broken.jsonl, line 2: an item of .* needs"):
            read_benchmark(broken, name)
    for line in ("[1, 2]", "{", '"' * 5, "[" * 100_000):
        broken.write_text(line, encoding="utf-8")
        with pytest.raises(AlmanacError, match="line 1"):
            read_benchmark(broken, name)


LETTERED = {"question": "Q?", "choices": {"text": ["a", "b"], "label": ["A", "B"]},
            "answerKey": "A", "id": "1"}  # fmt: skip
OPEN = {"question": "Q?", "answers": ["a"], "positive_ctxs": [{"text": "t"}], "url": "u/v"}
SPAN = {"start_token": 0, "end_token": 1}
VALID: list[tuple[str, dict[str, Any]]] = [
    ("agnews", {"text": "t", "label": 1}),
    ("esnli", {"premise": "p", "hypothesis": "h", "label": 1, "explanation_1": "e"}),
    ("strategyqa", {"qid": "1", "question": "Q?", "answer": True, "facts": ["f"], "term": "t"}),
    ("boolq", {"question": "Q?", "answer": False, "passage": "p", "title": "t"}),
    ("cikqa", {"idx": 1, "question": "Q?", "answers": ["a", "b", "c"], "sourcelabel": 0,
               "source": "s", "knowledge": [["a$$1", "b$$2", "IsA", 1.0]]}),
    ("arc", LETTERED),
    ("openbookqa", {**LETTERED, "fact1": "f"}),
    ("commonsenseqa", {**LETTERED, "question_concept": "c"}),
    ("hotpotqa", {"id": "1", "question": "Q?", "answer": "a", "type": "t",
                  "supporting_facts": {"title": ["T"], "sent_id": [0]},
                  "context": {"title": ["T"], "sentences": [["s"]]}}),
    ("2wiki", {"question": "Q?", "answer": "a", "gold": ["T"]}),
    ("musique", {"id": "2hop__1_2", "question": "Q?", "answer": "a", "answer_aliases": ["b"],
                 "answerable": True, "paragraphs": [
                     {"title": "T", "paragraph_text": "s", "is_supporting": True}]}),
    ("nq", OPEN),
    ("nq", {"question_text": "Q?", "document_text": "a b", "annotations": [
        {"short_answers": [SPAN], "long_answer": SPAN, "yes_no_answer": "NONE"}]}),
    ("webquestions", OPEN),
    ("webquestions", {"utterance": "Q?", "targetValue": "(list (description a))", "url": "u"}),
    ("triviaqa", {"question": "Q?", "answer": {"value": "a", "aliases": ["b"]},
                  "entity_pages": {"wiki_context": ["a b"]}, "search_results": []}),
    ("curatedtrec", {"question": "Q?", "answer": ["a|b"]}),
    ("mirage", {"dataset": "d", "id": "1", "question": "Q?", "options": {"A": "a"}, "answer": "A",
                "pred": {"cot_m": "A", "rag32_m": None}}),
    ("popqa", {"id": 1, "input": "Q?", "output": '["a"]', "s_pop": 4, "subj": "s", "prop": "p"}),
    ("wikidyk", {"id": 1, "input": "Q?", "output": "a", "fact": "f", "year": "2023"}),
    ("medqa", {"question": "Q?", "options": {"A": "a"}, "answer": "a", "meta_info": "m"}),
    ("lun", {"id": 1, "text": "t", "label": "hoax"}),
    ("mmlu", {"question": "Q?", "choices": ["a", "b"], "answer": 1, "subject": "s"}),
    ("fever", {"id": 1, "claim": "c", "label": "SUPPORTS", "evidence": [[[1, 2, "T", 0]]]}),
    ("fever", {"claim": "c", "claim_label": "REFUTES",
               "evidences": [{"article": "A", "evidence": "e"}]}),
]  # fmt: skip
STRANGE = (None, True, -3, 7, 1e999, "", "x", "[", [], [[]], [{}], [None], ["x", 3], {}, {"x": []})


@pytest.mark.parametrize(("name", "row"), VALID)
def test_whatever_a_field_holds_it_is_read_or_refused(
    name: str, row: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "odd.jsonl"
    assert read(path, name, [row])[0].answers
    for field, strange in product(row, STRANGE):
        try:
            found = read(path, name, [{**row, field: strange}])[0]
        except AlmanacError:
            continue
        texts = (found.question, found.kind, found.split_key, *found.answers, *found.choices)
        assert all(isinstance(one, str) for one in texts), (field, strange)
        assert all(isinstance(one or "", str) for one in (found.topic, found.knowledge))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.json", b"[1]"), ("a.json", b'{"a": [{"b": 1}'), ("a.json", b"[" * 100_000),
        ("a.parquet", b"PAR1 not at all"), ("a.csv", b'"1","' + b"x" * 200_000),
        ("a.jsonl.gz", gzip.compress(b"{}", mtime=0)[:-4]), ("a.jsonl", b"\xff\xfe"),
        ("a.tsv", b"one\n\ntwo\n"),
    ],
)  # fmt: skip
def test_broken_files_are_told_in_plain_words(file: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(AlmanacError, match=file):
        read_benchmark(path, "agnews")
