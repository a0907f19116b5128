"""Readers of open questions and of questions files, on samples in the files' public forms."""

from pathlib import Path
from typing import Any

import pytest

from schemas.errors import AlmanacError, UsageError
from tasks.questions.formats import read_benchmark
from tests.benchmark_files import read


@pytest.mark.parametrize("name", ["nq", "webquestions", "triviaqa"])
def test_open_questions_in_the_forms_that_all_share(name: str, tmp_path: Path) -> None:
    row = {"question": "who built it", "answer": ["Ann Lee", "Lee"]}
    (first,) = read(tmp_path / "train.jsonl", name, [row])
    assert (first.answers, first.part, first.scoring) == (("Ann Lee", "Lee"), "train", "text")
    table = "who built it\t['Ann Lee', \"O'Lee\"]\n"
    (second,) = read(tmp_path / f"{name}-test.csv", name, table)
    assert (second.answers, second.part) == (("Ann Lee", "O'Lee"), "test")
    found = {"question": "who", "answers": ["Ann"], "positive_ctxs": [{"text": "Ann built it."}]}
    (third,) = read(tmp_path / f"{name}-dev.json", name, [found])
    assert third.knowledge == "Ann built it."
    assert first.label is None and first.task == name


SIMPLIFIED = {
    "example_id": -5,
    "question_text": "who built the mill",
    "document_text": "<H1> Mill </H1> <P> Ann Lee built the mill in 1833 . </P> more",
    "annotations": [
        {"short_answers": [{"start_token": 4, "end_token": 6}],
         "long_answer": {"start_token": 3, "end_token": 13}, "yes_no_answer": "NONE"},
    ],
}  # fmt: skip


def test_nq_has_short_answers_and_the_long_one_as_knowledge(tmp_path: Path) -> None:
    nothing = {"short_answers": [], "long_answer": {"start_token": -1, "end_token": -1}}
    yes = {**SIMPLIFIED, "annotations": [{**nothing, "yes_no_answer": "YES"}]}
    hidden = {**SIMPLIFIED, "annotations": [{**nothing, "yes_no_answer": "NONE"}]}
    found, agreed = read(tmp_path / "simplified-nq-dev.jsonl", "nq", [SIMPLIFIED, yes, hidden])
    assert found.answers == ("Ann Lee",)
    assert found.knowledge == "Ann Lee built the mill in 1833 ."
    assert found.id == "nq/-5"
    assert (agreed.answers, agreed.knowledge) == (("yes",), None)


def test_nq_in_the_original_form_and_in_columns(tmp_path: Path) -> None:
    words = SIMPLIFIED["document_text"].split(" ")  # type: ignore[attr-defined]
    original = {
        "example_id": 1,
        "question_text": SIMPLIFIED["question_text"],
        "document_tokens": [{"token": w, "html_token": w.startswith("<")} for w in words],
        "annotations": SIMPLIFIED["annotations"],
    }
    (first,) = read(tmp_path / "nq.jsonl", "nq", [original])
    columns = {
        "id": "2",
        "question": {"text": SIMPLIFIED["question_text"]},
        "document": {"tokens": {"token": words, "is_html": [w.startswith("<") for w in words]}},
        "annotations": {
            "short_answers": [{"start_token": [4], "end_token": [6], "text": ["Ann Lee"]}],
            "long_answer": [{"start_token": 3, "end_token": 13}],
            "yes_no_answer": [-1],
        },
    }
    (second,) = read(tmp_path / "nq.parquet", "nq", [columns])
    assert first.answers == second.answers == ("Ann Lee",)
    assert first.knowledge == second.knowledge == "Ann Lee built the mill in 1833 ."


def test_nq_refuses_spans_outside_the_document(tmp_path: Path) -> None:
    span = {"start_token": 4, "end_token": 10**9}
    broken = {**SIMPLIFIED, "annotations": [{"short_answers": [span], "long_answer": span}]}
    with pytest.raises(AlmanacError, match="line 1"):
        read(tmp_path / "nq.jsonl", "nq", [broken])


def test_webquestions_lists_its_descriptions(tmp_path: Path) -> None:
    row = {
        "utterance": "what do they speak there?",
        "url": "http://www.freebase.com/view/en/old_mill",
        "targetValue": '(list (description "Old \\"Mill\\" Talk") (description English))',
    }
    (found,) = read(tmp_path / "webquestions.examples.train.json", "webquestions", [row])
    assert found.answers == ('Old "Mill" Talk', "English")
    assert (found.topic, found.part) == ("old mill", "train")


def test_triviaqa_finds_evidence_that_holds_an_answer(tmp_path: Path) -> None:
    original = {
        "Data": [
            {"Question": "Who built the mill?", "QuestionId": "t1",
             "Answer": {"Value": "Ann Lee", "Aliases": ["A. Lee", "Ann Lee"]},
             "SearchResults": [{"Description": "A mill."}, {"Description": "By Ann Lee."}]},
            {"Question": "Hidden?", "QuestionId": "t2"},
        ],
        "Domain": "Web",
        "Version": 1.0,
    }  # fmt: skip
    (first,) = read(tmp_path / "unfiltered-web-dev.json", "triviaqa", original)
    assert (first.id, first.answers) == ("triviaqa/t1", ("Ann Lee", "A. Lee"))
    assert first.knowledge == "By Ann Lee."
    answer = {"value": "Ann Lee", "aliases": ["A. Lee"]}
    pages = {"title": ["Mill"], "wiki_context": ["The mill stands.\n\nIt is by A. LEE.\n"]}
    row = {"question": "Who?", "question_id": "t3", "answer": answer, "entity_pages": pages}
    hidden = {**row, "answer": {"value": "<unk>", "aliases": []}}
    (second,) = read(tmp_path / "validation.parquet", "triviaqa", [row, hidden])
    assert (second.knowledge, second.answers) == ("It is by A. LEE.", ("Ann Lee", "A. Lee"))


def test_curatedtrec_keeps_patterns_and_reads_them(tmp_path: Path) -> None:
    table = '12\tfactoid\tWho drew "Mills"?\t(Ann|Anna) Lee\n'
    (found,) = read(tmp_path / "curatedtrec-train.tsv", "curatedtrec", table)
    assert found.question == 'Who drew "Mills"?'
    assert (found.patterns, found.answers) == (("(Ann|Anna) Lee",), ("Ann Lee",))
    row = '{"question": "When?", "answer": ["1833|1834"]}\n'
    (other,) = read(tmp_path / "CuratedTrec-test.txt", "curatedtrec", row)
    assert other.answers == ("1833", "1834")


def test_popqa_and_wikidyk(tmp_path: Path) -> None:
    made = {"name": "popqa", "dev": [{"input": "Who?", "output": '["Ann", "Lee"]', "id": 3,
            "s_pop": 41, "o_pop": 5}], "test": []}  # fmt: skip
    (found,) = read(tmp_path / "popqa.json", "popqa", made)
    assert (found.answers, found.popularity, found.id) == (("Ann", "Lee"), 41.0, "popqa/3")
    table = (
        'id\tsubj\tprop\ts_pop\tquestion\tpossible_answers\n9\tMill\tmaker\t7\tWho?\t"[""Ann""]"\n'
    )
    (own,) = read(tmp_path / "popQA.tsv", "popqa", table)
    assert (own.answers, own.topic, own.kind, own.popularity) == (("Ann",), "Mill", "maker", 7.0)
    fact = {
        "dev": [{"input": "Who?", "output": "Ann", "id": 1, "year": "2023", "fact": "Ann did."}]
    }
    (wiki,) = read(tmp_path / "wikidyk.json", "wikidyk", fact)
    assert (wiki.answers, wiki.knowledge, wiki.kind) == (("Ann",), "Ann did.", "2023")


def test_hotpotqa_in_columns_has_its_supporting_paragraphs(tmp_path: Path) -> None:
    row = {
        "id": "h1", "question": "Who?", "answer": "Ann", "type": "bridge",
        "supporting_facts": {"title": ["One"], "sent_id": [0]},
        "context": {"title": ["One", "Two"], "sentences": [["A. ", "B."], ["C."]]},
    }  # fmt: skip
    (found,) = read(tmp_path / "hotpot.parquet", "hotpotqa", [row])
    assert (found.knowledge, found.gold) == ("One: A. B.", ("One",))
    assert found.context == (("One", "A. B."), ("Two", "C."))


def test_musique_has_its_paragraphs_and_the_titles_to_find(tmp_path: Path) -> None:
    row = {
        "id": "2hop__1_2", "question": "Who?", "answer": "Ann", "answer_aliases": ["Ann Lee"],
        "paragraphs": [
            {"idx": 0, "title": "One", "paragraph_text": "A.", "is_supporting": True},
            {"idx": 1, "title": "Two", "paragraph_text": "B.", "is_supporting": False},
        ],
    }  # fmt: skip
    rows = [{**row, "answerable": True}, {**row, "answerable": False}]
    found, other = read(tmp_path / "musique_full_v1.0_dev.jsonl", "musique", rows)
    assert (found.answers, found.gold, found.kind) == (("Ann", "Ann Lee"), ("One",), "2hop")
    assert (found.context, found.knowledge) == ((("One", "A."), ("Two", "B.")), "One: A.")
    assert (found.part, found.scoring) == ("test", "text")
    assert other.answers == () and other.id != found.id  # the same question, with other paragraphs


def test_2wiki_in_the_form_of_hotpotqa_or_with_titles_alone(tmp_path: Path) -> None:
    rows = [
        {
            "_id": "w1", "type": "compositional", "question": "Who?", "answer": "Ann",
            "supporting_facts": [["One", 0]], "context": [["One", ["A. ", "B."]], ["Two", ["C."]]],
            "evidences": [["One", "author", "Ann"]],
        },
        {"question": "Where?", "gold": ["One", "Two"]},
    ]  # fmt: skip
    whole, titles = read(tmp_path / "2wiki.jsonl", "2wiki", rows)
    assert (whole.answers, whole.gold, whole.kind) == (("Ann",), ("One",), "compositional")
    assert (whole.knowledge, whole.dataset) == ("One: A. B.", "2wiki")
    assert (titles.answers, titles.context, titles.gold) == ((), (), ("One", "Two"))


def test_questions_files_hold_outcomes_and_popularity(tmp_path: Path) -> None:
    row = {"question": "Who?", "answers": ["Ann"], "outcomes": {"m": [0, 0.5], "n": [1, 1]},
           "own_answers": {"m": "Bo"}, "popularity": 12, "dataset": "mills",
           "patterns": ["Ann?"]}  # fmt: skip
    (found,) = read(tmp_path / "q.jsonl", "jsonl", [row])
    assert found.outcomes == (("m", 0.0, 0.5), ("n", 1.0, 1.0))
    assert (found.own_answers, found.popularity) == ((("m", "Bo"),), 12.0)
    assert (found.dataset, found.patterns) == ("mills", ("Ann?",))


@pytest.mark.parametrize(
    "field",
    [
        {"outcomes": [["m", 0, 1]]},
        {"outcomes": {"m": [0]}},
        {"outcomes": {"m": [0, 2]}},
        {"outcomes": {"m": [0, "1"]}},
        {"popularity": "many"},
        {"popularity": float("nan")},
        {"own_answers": {"m": 1}},
    ],
)
def test_questions_files_with_strange_outcomes_are_refused(
    field: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"q.jsonl, line 1"):
        read(tmp_path / "q.jsonl", "jsonl", [{"question": "Who?", **field}])


def test_lists_in_tables_may_be_hostile(tmp_path: Path) -> None:
    table = f"who\t[{'[' * 50_000}{']' * 50_000}]\nwho\t[__import__('os')]\n"
    deep, code = read(tmp_path / "nq.csv", "nq", table)
    assert deep.answers[0].startswith("[[") and code.answers == ("[__import__('os')]",)


def test_benchmark_files_of_open_questions(almanac_data: Path) -> None:
    popular = read_benchmark(almanac_data / "gate", "popqa").questions
    assert len(popular) > 1000 and all(q.popularity and q.answers for q in popular)
    assert all(q.knowledge for q in read_benchmark(almanac_data / "gate", "wikidyk").questions)
    hops = read_benchmark(almanac_data / "multihop", "hotpotqa").questions
    assert all(q.knowledge and q.gold for q in hops)
