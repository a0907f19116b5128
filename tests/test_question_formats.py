"""Readers of rows: each data set in the public forms of its files, on samples made by hand.

Files that are not as they should be are refused in plain words, or read as texts.
"""

import gzip
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import AlmanacError, UsageError
from tasks.questions.formats import READERS, read_benchmark
from tests.benchmark_files import read, write

Rows = list[dict[str, Any]]
Fields = dict[str, Any]

NEWS = '"3","Mills close","Two mills\\shut, the owners said ""today""."\n"1","Vote","It rains."\n'
ENTAILED = {"premise": "A.", "hypothesis": "B.", "label": 0, "explanation_1": "So."}
ICE = {"qid": "q1", "term": "Ice", "question": "Does ice float?", "answer": True,
       "facts": ["Ice is light.", "Light things float."]}  # fmt: skip
LEAD = {"question": "is lead light", "passage": "Lead is heavy.", "answer": False, "title": "Lead"}
HELPED = {
    "idx": 7, "question": "Ann thanked Bo since she helped. Who helped?", "source": "HardPCR",
    "answers": ["Ann", "Bo", "I do not know"], "sourcelabel": 1, "label": 2,
    "knowledge": [["you help$$3", "you are thanked$$5", "HasSubevent", 2.0]],
}  # fmt: skip
FLOATS = {
    "id": "Q1",
    "question": {"stem": "Which one floats?", "question_concept": "wood",
                 "choices": [{"text": "wood", "label": "A"}, {"text": "lead", "label": "B"}]},
    "answerKey": "A",
}  # fmt: skip
FLOATS_IN_COLUMNS = {
    "id": "Q2", "question": "Which one floats?", "answerKey": "2",
    "choices": {"text": ["wood", "lead"], "label": ["1", "2"]},
}  # fmt: skip
FLOATS_BY_INSTRUCTION = {
    "instruction": "Please choose the correct answer to the question: Which one floats?\n\n"
    "Answer1: wood Answer2: lead\n\nAnswer format: answer1/answer2",
    "answer": "answer2",
}
FLOATING = {"question": "Which one floats?", "choices": ("wood", "lead"), "label": None}
EXAM = {"question": "Which?", "options": {"A": "x", "B": "y"}, "answer": "y", "answer_idx": "B",
        "meta_info": "step1"}  # fmt: skip
LAW = {"question": "Which?", "subject": "law", "choices": ["a", "b", "c", "d"], "answer": 3}
CLAIMS: Rows = [
    {"id": 1, "label": "SUPPORTS", "claim": "Ice floats.",
     "evidence": [[[1, 2, "Ice_(water)", 0]], [[3, 4, None, None]]]},
    {"id": "2", "gold_label": "REFUTES", "claim": "Ice sinks.", "evidence": "Ice floats ."},
    {"claim_id": "3", "claim": "It warms.", "claim_label": "DISPUTED",
     "evidences": [{"article": "Air", "evidence": "Air is warm."}]},
]  # fmt: skip
ANATOMY = {
    "dataset": "mmlu", "id": "anatomy-007", "question": "Which?",
    "options": {"A": "x", "B": "y"}, "answer": "B",
    "pred": {"cot_gpt35": "A", "rag32_gpt35": "B", "cot_gpt4": None, "rag32_gpt4": "B",
             "cot_x": "B"},
}  # fmt: skip
IS_IT = {"dataset": "bioasq", "id": "1", "question": "Is it?", "answer": "A",
         "options": {"A": "yes", "B": "no"}}  # fmt: skip
FALSE = {"sent": "Ice floats.", "knowledge": "It is light.", "option1": "correct",
         "option2": "wrong", "label": "2"}  # fmt: skip
OPEN = {"sent": "who?", "knowledge": "", "ans": ["Ann", "Anna"]}
SPANS = {"short_answers": [{"start_token": 4, "end_token": 6}],
         "long_answer": {"start_token": 3, "end_token": 13}, "yes_no_answer": "NONE"}  # fmt: skip
NO_SPANS = {"short_answers": [], "long_answer": {"start_token": -1, "end_token": -1}}
MILL = "<H1> Mill </H1> <P> Ann Lee built the mill in 1833 . </P> more"
SIMPLIFIED = {"example_id": -5, "question_text": "who built the mill", "document_text": MILL,
              "annotations": [SPANS]}  # fmt: skip
ORIGINAL = {
    "example_id": 1, "question_text": "who built the mill", "annotations": [SPANS],
    "document_tokens": [{"token": w, "html_token": w[0] == "<"} for w in MILL.split(" ")],
}  # fmt: skip
NQ_IN_COLUMNS = {
    "id": "2",
    "question": {"text": "who built the mill"},
    "document": {"tokens": {"token": MILL.split(" "),
                            "is_html": [w[0] == "<" for w in MILL.split(" ")]}},
    "annotations": {
        "short_answers": [{"start_token": [4], "end_token": [6], "text": ["Ann Lee"]}],
        "long_answer": [{"start_token": 3, "end_token": 13}],
        "yes_no_answer": [-1],
    },
}  # fmt: skip
BUILT = {"answers": ("Ann Lee",), "knowledge": "Ann Lee built the mill in 1833 ."}
TRIVIA = {
    "Data": [
        {"Question": "Who built the mill?", "QuestionId": "t1",
         "Answer": {"Value": "Ann Lee", "Aliases": ["A. Lee", "Ann Lee"]},
         "SearchResults": [{"Description": "A mill."}, {"Description": "By Ann Lee."}]},
        {"Question": "Hidden?", "QuestionId": "t2"},
    ],
    "Domain": "Web",
    "Version": 1.0,
}  # fmt: skip
TRIVIA_ROW = {
    "question": "Who?", "question_id": "t3", "answer": {"value": "Ann Lee", "aliases": ["A. Lee"]},
    "entity_pages": {"title": ["Mill"],
                     "wiki_context": ["The mill stands.\n\nIt is by A. LEE.\n"]},
}  # fmt: skip
HOTPOT = {
    "_id": "x", "question": "Who?", "answer": "Ada", "type": "bridge",
    "supporting_facts": [["One", 0], ["One", 1], ["Two", 0]],
    "context": [["One", ["A. ", "B."]], ["Two", ["C."]], ["Three", []]],
}  # fmt: skip
HOTPOT_IN_COLUMNS = {
    "id": "h1", "question": "Who?", "answer": "Ann", "type": "bridge",
    "supporting_facts": {"title": ["One"], "sent_id": [0]},
    "context": {"title": ["One", "Two"], "sentences": [["A. ", "B."], ["C."]]},
}  # fmt: skip
MUSIQUE = {
    "id": "2hop__1_2", "question": "Who?", "answer": "Ann", "answer_aliases": ["Ann Lee"],
    "paragraphs": [
        {"idx": 0, "title": "One", "paragraph_text": "A.", "is_supporting": True},
        {"idx": 1, "title": "Two", "paragraph_text": "B.", "is_supporting": False},
    ],
}  # fmt: skip
WIKI: Rows = [
    {"_id": "w1", "type": "compositional", "question": "Who?", "answer": "Ann",
     "supporting_facts": [["One", 0]], "context": [["One", ["A. ", "B."]], ["Two", ["C."]]],
     "evidences": [["One", "author", "Ann"]]},
    {"question": "Where?", "gold": ["One", "Two"]},
]  # fmt: skip
LISTED = "who built it\t['Ann Lee', \"O'Lee\"]\n"
WITH_CONTEXT = {"question": "who", "answers": ["Ann"], "positive_ctxs": [{"text": "Ann built it."}]}

# Data set, file, content, and what its questions must hold; rows without an answer are skipped.
CASES: list[tuple[str, str, Any, list[Fields]]] = [
    ("agnews", "train.csv", NEWS, [
        {"label": "Business", "answers": ("Business",), "part": "train"},
        {"label": "World", "part": "train"}]),
    ("agnews", "t.csv", f"Class Index,Title,Description\n{NEWS}", [
        {"label": "Business"}, {"label": "World"}]),
    ("agnews", "test-0.parquet", [{"text": "A cup was won &amp; lost.", "label": 1}], [
        {"label": "Sports"}]),
    ("esnli", "esnli_dev.csv", "pairID,gold_label,Sentence1,Sentence2,Explanation_1\n"
     'p1,contradiction,A man sleeps.,A man runs.,"One cannot sleep\nand run."\n'
     "p2,-,A man sleeps.,A man dreams.,Perhaps.\n", [
         {"label": "contradiction", "knowledge": "One cannot sleep\nand run.", "id": "esnli/p1",
          "split_key": "A man sleeps."}]),
    ("esnli", "esnli.jsonl", [ENTAILED, {**ENTAILED, "label": -1}], [
        {"label": "entailment", "knowledge": "So.", "id": "esnli/esnli/1"}]),
    ("strategyqa", "strategyqa_train.json", [ICE, {"qid": "q2", "question": "Hidden?"}], [
        {"label": "yes", "answers": ("yes",), "topic": "Ice",
         "knowledge": "Ice is light. Light things float."}]),
    ("boolq", "dev.jsonl", [LEAD], [
        {"label": "no", "knowledge": "Lead is heavy.", "choices": ("yes", "no")}]),
    ("boolq", "val.parquet", [{"question": "q", "passage": "p", "idx": 4, "label": 1}], [
        {"id": "boolq/4", "label": "yes"}]),
    ("cikqa", "test.json", [HELPED], [
        {"answers": ("Bo",), "choices": ("Ann", "Bo"), "label": None, "kind": "HardPCR",
         "knowledge": "you help has subevent you are thanked."}]),
    ("cikqa", "dev.json", [{**HELPED, "answers": ["Yes", "No", "?"]}], [{"label": "no"}]),
    ("arc", "ARC-Easy/ARC-Easy-Dev.jsonl", [FLOATS], [
        {"task": "arc-easy", "answers": ("wood",), "knowledge": None, **FLOATING}]),
    ("arc", "ARC-Challenge/test-0.parquet", [FLOATS_IN_COLUMNS], [
        {"task": "arc-challenge", "answers": ("lead",), **FLOATING}]),
    ("arc", "ARC-Challenge.train.json", [FLOATS_BY_INSTRUCTION], [
        {"task": "arc-challenge", "answers": ("lead",), "part": "train", **FLOATING}]),
    ("openbookqa", "obqa.jsonl", [{**FLOATS, "fact1": "wood is light"}], [
        {"task": "openbookqa", "knowledge": "wood is light"}]),
    ("openbookqa", "openbookqa.parquet", [
        {"question_stem": "Which one floats?", "answerKey": "B",
         "choices": {"text": ["wood", "lead"], "label": ["A", "B"]}}], [{"answers": ("lead",)}]),
    ("commonsenseqa", "dev.jsonl", [FLOATS, {**FLOATS, "answerKey": None}], [
        {"topic": "wood", "scoring": "choice"}]),
    ("medqa", "questions.jsonl", [EXAM], [{"answers": ("y",), "kind": "step1", "label": None}]),
    ("medqa", "m.jsonl", [
        {**EXAM, "options": [{"key": "A", "value": "x"}, {"key": "B", "value": "y"}]}], [
            {"choices": ("x", "y")}]),
    ("mmlu", "anatomy_test.csv", '"Which, then?",a,b,c,d,C\n', [
        {"answers": ("c",), "kind": "anatomy", "part": "test"}]),
    ("mmlu", "mmlu.parquet", [LAW], [{"answers": ("d",), "kind": "law"}]),
    ("lun", "balancedtest.csv", "2,The moon is cheese.\n", [
        {"answers": ("hoax",), "scoring": "choice"}]),
    ("fever", "fever.jsonl", CLAIMS, [
        {"label": "supported", "gold": ("Ice (water)",), "knowledge": None},
        {"label": "refuted", "knowledge": "Ice floats ."},
        {"label": "disputed", "task": "climate-fever", "knowledge": "Air is warm."}]),
    ("mirage", "mirage.jsonl", [ANATOMY, IS_IT], [
        {"outcomes": (("gpt35", 0.0, 1.0), ("gpt4", 0.0, 1.0)), "dataset": "mmlu", "task": "mmlu",
         "kind": "anatomy", "label": None},
        {"label": "yes", "kind": "", "outcomes": ()}]),
    ("mirage", "benchmark.json",
     {"bioasq": {"1": {**IS_IT, "dataset": None}}, "mmlu": {"anatomy-007": ANATOMY}}, [
         {"id": "bioasq/1"}, {"id": "mmlu/anatomy-007"}]),
    ("thrust", "mc_benchmark.json",
     {"boolq": {"train": [FALSE], "test": [FALSE]}, "nq": {"test": [OPEN, OPEN]}}, [
         {"part": "train", "task": "boolq", "label": "wrong", "knowledge": "It is light."},
         {"part": "test"},
         {"answers": ("Ann", "Anna"), "knowledge": None, "scoring": "text"},
         {"answers": ("Ann", "Anna")}]),
    ("nq", "simplified-nq-dev.jsonl", [
        SIMPLIFIED,
        {**SIMPLIFIED, "annotations": [{**NO_SPANS, "yes_no_answer": "YES"}],
         "example_id": 6},
        {**SIMPLIFIED, "annotations": [{**NO_SPANS, "yes_no_answer": "NONE"}]}], [
            {**BUILT, "id": "nq/-5"}, {"answers": ("yes",), "knowledge": None}]),
    ("nq", "nq.jsonl", [ORIGINAL], [BUILT]),
    ("nq", "nq.parquet", [NQ_IN_COLUMNS], [BUILT]),
    ("webquestions", "webquestions.examples.train.json", [
        {"utterance": "what do they speak there?",
         "url": "http://www.freebase.com/view/en/old_mill",
         "targetValue": '(list (description "Old \\"Mill\\" Talk") (description English))'}], [
             {"answers": ('Old "Mill" Talk', "English"), "topic": "old mill", "part": "train"}]),
    ("triviaqa", "unfiltered-web-dev.json", TRIVIA, [
        {"id": "triviaqa/t1", "answers": ("Ann Lee", "A. Lee"), "knowledge": "By Ann Lee."}]),
    ("triviaqa", "validation.parquet", [
        TRIVIA_ROW, {**TRIVIA_ROW, "answer": {"value": "<unk>", "aliases": []}}], [
            {"knowledge": "It is by A. LEE.", "answers": ("Ann Lee", "A. Lee")}]),
    ("curatedtrec", "curatedtrec-train.tsv", '12\tfactoid\tWho drew "Mills"?\t(Ann|Anna) Lee\n', [
        {"question": 'Who drew "Mills"?', "patterns": ("(Ann|Anna) Lee",),
         "answers": ("Ann Lee",)}]),
    ("curatedtrec", "CuratedTrec-test.txt", '{"question": "When?", "answer": ["1833|1834"]}\n', [
        {"answers": ("1833", "1834")}]),
    ("popqa", "popqa.json",
     {"name": "popqa", "test": [], "dev": [
         {"input": "Who?", "output": '["Ann", "Lee"]', "id": 3, "s_pop": 41, "o_pop": 5}]}, [
             {"answers": ("Ann", "Lee"), "popularity": 41.0, "id": "popqa/3"}]),
    ("popqa", "popQA.tsv", "id\tsubj\tprop\ts_pop\tquestion\tpossible_answers\n"
     '9\tMill\tmaker\t7\tWho?\t"[""Ann""]"\n', [
         {"answers": ("Ann",), "topic": "Mill", "kind": "maker", "popularity": 7.0}]),
    ("wikidyk", "wikidyk.json",
     {"dev": [{"input": "Who?", "output": "Ann", "id": 1, "year": "2023", "fact": "Ann did."}]}, [
         {"answers": ("Ann",), "knowledge": "Ann did.", "kind": "2023"}]),
    ("hotpotqa", "hotpotqa.json", [HOTPOT], [
        {"gold": ("One", "Two"), "kind": "bridge", "scoring": "text",
         "context": (("One", "A. B."), ("Two", "C."), ("Three", ""))}]),
    ("hotpotqa", "hotpot.parquet", [HOTPOT_IN_COLUMNS], [
        {"knowledge": "One: A. B.", "gold": ("One",),
         "context": (("One", "A. B."), ("Two", "C."))}]),
    ("musique", "musique_full_v1.0_dev.jsonl", [
        {**MUSIQUE, "answerable": True}, {**MUSIQUE, "answerable": False}], [
            {"answers": ("Ann", "Ann Lee"), "gold": ("One",), "kind": "2hop", "part": "test",
             "context": (("One", "A."), ("Two", "B.")), "knowledge": "One: A.",
             "scoring": "text", "id": "musique/2hop__1_2"},
            # The same question, with other paragraphs.
            {"answers": (), "id": "musique/2hop__1_2/unanswerable"}]),
    ("2wiki", "2wiki.jsonl", WIKI, [
        {"answers": ("Ann",), "gold": ("One",), "kind": "compositional",
         "knowledge": "One: A. B.", "dataset": "2wiki"},
        {"answers": (), "context": (), "gold": ("One", "Two")}]),
    ("jsonl", "q.jsonl", [
        {"question": "Who?", "answers": ["Ann"], "outcomes": {"m": [0, 0.5], "n": [1, 1]},
         "own_answers": {"m": "Bo"}, "popularity": 12, "dataset": "mills",
         "patterns": ["Ann?"]}], [
             {"outcomes": (("m", 0.0, 0.5), ("n", 1.0, 1.0)), "own_answers": (("m", "Bo"),),
              "popularity": 12.0, "dataset": "mills", "patterns": ("Ann?",)}]),
    *((name, file, content, [{**fields, "task": name, "scoring": "text", "label": None}])
      for name in ("nq", "webquestions", "triviaqa")
      for file, content, fields in (
          ("train.jsonl", [{"question": "who built it", "answer": ["Ann Lee", "Lee"]}],
           {"answers": ("Ann Lee", "Lee"), "part": "train"}),
          (f"{name}-test.csv", LISTED, {"answers": ("Ann Lee", "O'Lee"), "part": "test"}),
          (f"{name}-dev.json", [WITH_CONTEXT], {"knowledge": "Ann built it."}))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file", "content", "expected"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES]
)
def test_questions_are_read_from_each_form_of_a_data_set(
    name: str, file: str, content: Any, expected: list[Fields], tmp_path: Path
) -> None:
    found = read(tmp_path / file, name, content)
    for question, fields in zip(found, expected, strict=True):
        assert {key: getattr(question, key) for key in fields} == fields
    assert len({question.id for question in found}) == len(found)


def test_a_class_is_asked_for_in_words(tmp_path: Path) -> None:
    business, _ = read(tmp_path / "train.csv", "agnews", NEWS)
    article = 'Mills close. Two mills shut, the owners said "today".'
    assert business.question.startswith(article) and len(business.choices) == 4
    rows = [{"text": "A cup was won &amp; lost.", "label": 1}]
    (sports,) = read(tmp_path / "test-0.parquet", "agnews", rows)
    assert sports.question.startswith("A cup was won & lost.")
    *_, climate = read(tmp_path / "fever.jsonl", "fever", CLAIMS)
    assert len(climate.choices) == 4


def test_mmlu_has_a_training_part_and_groups_of_subjects(tmp_path: Path) -> None:
    for part, subject in (("dev", "virology"), ("val", "virology"), ("test", "jurisprudence")):
        write(tmp_path / part / f"{subject}_{part}.csv", f"Which is {part}?,a,b,c,d,B\n")
    questions = read_benchmark(tmp_path, "mmlu").questions
    assert {(q.kind, q.dataset, q.part) for q in questions} == {
        ("virology", "mmlu other", "train"),
        ("jurisprudence", "mmlu humanities", "test"),
    }
    assert all((q.task, q.answers) == ("mmlu", ("b",)) for q in questions)


def test_lun_in_two_classes_and_in_four(tmp_path: Path) -> None:
    def item(number: int, label: str) -> Fields:
        return {"id": number, "text": f"The moon is made of cheese, say {number} mice.",
                "label": label}  # fmt: skip

    for name, labels in {"LUN2": ["true", "false"], "LUN4": ["satire", "trusted"]}.items():
        content = {"dataset": name, "potential_labels": labels,
                   "demos": [item(7, labels[0])], "testset": [item(0, labels[1])]}  # fmt: skip
        write(tmp_path / f"{name}.json", content)
    questions = read_benchmark(tmp_path, "lun").questions
    assert [(q.dataset, q.part, q.label, len(q.choices)) for q in questions] == [
        ("lun 2-way", "train", "true", 2),
        ("lun 2-way", "test", "false", 2),
        ("lun 4-way", "train", "satire", 4),
        ("lun 4-way", "test", "trusted", 4),
    ]
    with pytest.raises(AlmanacError, match="lun"):
        read(tmp_path / "odd.csv", "lun", "5,The moon is cheese.\n")


def test_a_folder_gives_the_files_of_the_format_alone(tmp_path: Path) -> None:
    write(tmp_path / "data" / "train-0.parquet", [LEAD])
    write(tmp_path / "BoolQ.dev.jsonl", [LEAD, LEAD])
    write(tmp_path / "other.jsonl", [{"no": "question"}])
    write(tmp_path / "BoolQ.dev.csv", "question,passage\nthe same in another form\n")
    assert len(read_benchmark(tmp_path, "boolq").questions) == 3
    write(tmp_path / "hotpot" / "hotpotqa.json", [HOTPOT])
    write(tmp_path / "hotpot" / "hotpotqa_corpus.json", {})
    assert len(read_benchmark(tmp_path / "hotpot", "hotpotqa").questions) == 1


def test_nq_refuses_spans_outside_the_document(tmp_path: Path) -> None:
    span = {"start_token": 4, "end_token": 10**9}
    broken = {**SIMPLIFIED, "annotations": [{"short_answers": [span], "long_answer": span}]}
    with pytest.raises(AlmanacError, match="line 1"):
        read(tmp_path / "nq.jsonl", "nq", [broken])


@pytest.mark.parametrize(
    "field",
    [
        {"outcomes": [["m", 0, 1]]}, {"outcomes": {"m": [0]}}, {"outcomes": {"m": [0, 2]}},
        {"outcomes": {"m": [0, "1"]}}, {"popularity": "many"}, {"popularity": float("nan")},
        {"own_answers": {"m": 1}},
    ],
)  # fmt: skip
def test_questions_files_with_strange_outcomes_are_refused(field: Fields, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"q.jsonl, line 1"):
        read(tmp_path / "q.jsonl", "jsonl", [{"question": "Who?", **field}])


def test_lists_in_tables_may_be_hostile(tmp_path: Path) -> None:
    table = f"who\t[{'[' * 50_000}{']' * 50_000}]\nwho\t[__import__('os')]\n"
    deep, code = read(tmp_path / "nq.csv", "nq", table)
    assert deep.answers[0].startswith("[[") and code.answers == ("[__import__('os')]",)


def test_public_files_have_what_gates_need(almanac_data: Path) -> None:
    mirage = read_benchmark(almanac_data / "gate", "mirage").questions
    assert {q.task for q in mirage} == {"medqa", "medmcqa", "mmlu", "bioasq", "pubmedqa"}
    assert all(len(q.outcomes) == 2 and q.answers[0] in q.choices for q in mirage)
    assert {q.task for q in mirage if q.label} == {"bioasq", "pubmedqa"}
    sets = (("mcqa", "arc"), ("mcqa", "openbookqa"), ("medqa", "medqa"), ("factcheck", "fever"),
            ("commonsenseqa", "commonsenseqa"))  # fmt: skip
    for folder, name in sets:
        questions = read_benchmark(almanac_data / folder, name).questions
        assert len(questions) > 500 and all(q.answers[0] in q.choices for q in questions)
        assert Counter(q.id for q in questions).most_common(1)[0][1] == 1
    popular = read_benchmark(almanac_data / "gate", "popqa").questions
    assert len(popular) > 1000 and all(q.popularity and q.answers for q in popular)
    assert all(q.knowledge for q in read_benchmark(almanac_data / "gate", "wikidyk").questions)
    hops = read_benchmark(almanac_data / "multihop", "hotpotqa").questions
    assert all(q.knowledge and q.gold for q in hops)


# -- files that are not as they should be ---------------------------------------------------------


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
OPEN_QUESTION = {"question": "Q?", "answers": ["a"], "positive_ctxs": [{"text": "t"}], "url": "u/v"}
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
    ("nq", OPEN_QUESTION),
    ("nq", {"question_text": "Q?", "document_text": "a b", "annotations": [
        {"short_answers": [SPAN], "long_answer": SPAN, "yes_no_answer": "NONE"}]}),
    ("webquestions", OPEN_QUESTION),
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
