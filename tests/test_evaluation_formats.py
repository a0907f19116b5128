"""Readers of benchmarks, on samples made by hand in the files' public forms."""

import gzip
import json
from pathlib import Path

import pytest

from schemas.errors import AlmanacError, UsageError
from tasks.questions.files import beside, lines, part_of, question_files
from tasks.questions.formats import READERS, read_benchmark
from tasks.questions.splits import split

PQ2 = (
    "what is the gender of ann 's child ?\tmale(male/female/)\t"
    "ann#children#bob#gender#male#<end>#male\n"
    "where was ann 's child born ?\toslo(oslo/)\tann#children#bob#place_of_birth#oslo#<end>#oslo\n"
    "who is cid 's wife 's parent ?\tdan_(king)(dan_(king)/)\t"
    "cid#spouse#eve#parents#dan_(king)#<end>#dan_(king)\n"
)
PQ3 = (
    "the gender of fay 's mother 's child ?\tmale(male/)\t"
    "fay#parents#gil#children#bob#gender#male#<end>#male\n"
)
WC = (
    "name a player who plays at Forward from Mexico ?\tAl\t"
    "Forward#plays_position_inverse#Al#<end>#Al*Mexico#plays_for_country_inverse#Al#<end>#Al\t"
    "Al/Ben/\tAl#plays_position#Forward\tForward/Mexico\n"
)


def test_pathquestion_has_all_answers_and_a_graph_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "PQ-2H.txt.gz").write_bytes(gzip.compress(PQ2.encode()))
    (tmp_path / "PQ-3H.txt").write_text(PQ3)
    (tmp_path / "WC-C.txt").write_text(WC)
    for name in ("2H-kb.txt", "3H-kb.txt", "WC2014.txt", "readme.txt"):
        (tmp_path / name).write_text("ann\tchildren\tbob\n")
    benchmark = read_benchmark(tmp_path, "pathquestion")
    gender, _, parent, three, club = benchmark.questions
    assert gender.answers == ("male", "female")
    assert (gender.gold, gender.hops) == (("children", "gender"), 2)
    assert parent.answers == ("dan_(king)",)
    assert three.hops == 3
    assert (club.answers, club.hops, club.topic) == (("Al", "Ben"), 1, None)
    assert {q.graph for q in benchmark.questions} == {source.name for source in benchmark.graphs}


def test_pathquestion_halves_share_no_entity_that_paths_lead_through(tmp_path: Path) -> None:
    (tmp_path / "PQ-2H.txt").write_text(PQ2)
    (tmp_path / "PQ-3H.txt").write_text(PQ3)
    gender, born, parent, three = read_benchmark(tmp_path, "pathquestion").questions
    assert gender.split_key == born.split_key == three.split_key
    assert parent.split_key != gender.split_key


NLPCC = """\
<question id=1>\t《甲书》的作者是谁？
<triple id=1>\t甲书 ||| 作者 ||| 王一
<answer id=1>\t王一
==================================================
<question id=2>\t乙河有多长？
<triple id=2>\t乙河 ||| 长度 ||| 10公里
<answer id=2>\t10公里 ||| 10千米
==================================================
<question id=3>\t丙是什么？
<triple id=3>\t丙 ||| 类型 |||
<answer id=3>
"""


def test_nlpcc_tells_entities_with_several_relations(tmp_path: Path) -> None:
    packed = tmp_path / "nlpcc-iccpol-2016.kbqa.training-data.gz"
    packed.write_bytes(gzip.compress(NLPCC.encode()))
    kb = "甲书\t作者\t王一\n甲书\t出版社\t丙\n乙河\t长度\t10公里\n"
    (tmp_path / "gold_triples_kb.tsv").write_text(kb, encoding="utf-8")
    benchmark = read_benchmark(tmp_path, "nlpcc")
    first, second = benchmark.questions
    assert (first.question, first.topic, first.language) == ("《甲书》的作者是谁？", "甲书", "zh")
    assert (first.kind, second.kind) == ("several relations", "one relation")
    assert second.answers == ("10公里", "10千米")
    assert benchmark.graphs[0].format == "tsv"


def test_nlpcc_mh_makes_its_graph_of_its_paths(tmp_path: Path) -> None:
    path = [["甲 ||| 1", "父亲", "乙 ||| 2"], ["乙 ||| 2", "生于", "北京 ||| 0"]]
    rows = [{"q": "甲的父亲生于哪里？", "path": path}]
    file = tmp_path / "nlpcc-mh.train.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    benchmark = read_benchmark(tmp_path, "nlpcc-mh")
    assert benchmark.questions[0].answers == ("北京",)
    assert benchmark.questions[0].hops == 2
    assert benchmark.graphs[0].triples == (("甲", "父亲", "乙"), ("乙", "生于", "北京"))
    file.write_text('[{"q": "?"}]')
    with pytest.raises(AlmanacError, match="item 1"):
        read_benchmark(file, "nlpcc-mh")


@pytest.mark.parametrize("prefix", ["", "MidtermQA-"])
def test_midtermqa_in_its_three_forms(prefix: str, tmp_path: Path) -> None:
    template = "Who won the {} in the 2022 U.S. midterm elections?"
    district = template.format("32nd congressional district of Texas")
    race = template.format("senate race of Iowa")
    forms = {
        "openbook": (race, "Ann Lee", "Ann Lee"),
        "binary": (f"{district}\nA. Bo Ray B. Ann Lee", "B", "Ann Lee"),
        "fourchoice": (f"{race}\nA. Bo B. Jo F. Q. Ray C. Ann D. Cy", "B", "Jo F. Q. Ray"),
    }
    for number, (name, (question, answer, _)) in enumerate(forms.items(), 1):
        row = {"question": question, "answer": answer, "id": number}
        content = {"dataset": name, "demos": [row], "testset": [row]}
        (tmp_path / f"{prefix}{name}.json").write_text(json.dumps(content))
    benchmark = read_benchmark(tmp_path, "midtermqa")
    train, test = split(benchmark)
    assert len(train) == len(test) == 3
    by_form = {question.dataset.split()[-1]: question for question in test}
    for name, (*_, answer) in forms.items():
        assert by_form[name].answers == (answer,)
    assert by_form["openbook"].scoring == "text"
    assert (by_form["binary"].scoring, by_form["binary"].exact) == ("choice", False)
    assert by_form["binary"].question == district
    assert (by_form["fourchoice"].kind, by_form["binary"].kind) == ("senate", "house")


@pytest.mark.parametrize(
    "choices",
    [
        ("J. D. Vance", "Tim Ryan"), ("Lin Veasey", "Mike D. Rogers"), ("J. B. Pritzker", "Bo Ray"),
        ("Al Green Jr.", "N/A"), ("Ann Lee", "B. C. Ray", "N/A", "D. Cy"),
        ("Ann Lee", "N/A", "Mike D. Rogers", "Bo Ray"),
    ],
)  # fmt: skip
def test_initials_are_no_letters_of_choices(choices: tuple[str, ...], tmp_path: Path) -> None:
    offered = " ".join(f"{letter}. {name}" for letter, name in zip("ABCD", choices, strict=False))
    row = {"question": f"Who won?\n{offered}", "answer": "B", "id": 1}
    (tmp_path / "binary.json").write_text(json.dumps({"testset": [row]}))
    (question,) = read_benchmark(tmp_path, "midtermqa").questions
    assert question.choices == choices
    assert question.answers == (choices[1],)


def test_questions_file_and_its_bad_lines(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    rows = [
        {"question": "谁?", "answers": ["甲"]},
        {"id": 7, "question": "Which?", "choices": ["a", "b"], "answers": ["b"], "label": "B"},
        {"question": "Nothing?", "answers": []},
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    chinese, choice, nothing = read_benchmark(file, "jsonl").questions
    assert (chinese.language, chinese.id) == ("zh", "q/1")
    assert (choice.scoring, choice.id, choice.label) == ("choice", "7", "B")
    assert nothing.answers == ()
    for bad in ("[1]", "{", '{"question": ""}', '{"question": "a", "answers": "b"}', '{"id": 1}'):
        file.write_text(f'{{"question": "good?"}}\n{bad}\n')
        with pytest.raises(UsageError, match="line 2"):
            read_benchmark(file, "jsonl")


def test_what_is_not_there_is_said_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no format"):
        read_benchmark(tmp_path, "nothing")
    for name in READERS:
        with pytest.raises(UsageError, match="no questions"):
            read_benchmark(tmp_path, name)
    with pytest.raises(UsageError, match="does not exist"):
        read_benchmark(tmp_path / "x", "jsonl")
    broken = tmp_path / "qa_dev.txt.gz"
    broken.write_bytes(gzip.compress(b"x" * 1000)[:20])
    with pytest.raises(AlmanacError, match="broken"):
        list(lines(broken))
    broken.write_bytes(b"not packed")
    with pytest.raises(AlmanacError, match="broken"):
        read_benchmark(broken, "metaqa")
    (tmp_path / "qa_dev.txt").write_text("no topic\tanswer\n")
    with pytest.raises(AlmanacError, match="line 1"):
        read_benchmark(tmp_path / "qa_dev.txt", "metaqa")


def test_parts_and_neighbours_of_files(tmp_path: Path) -> None:
    names = ("qa_train.txt", "kbqa.training-data.gz", "qa_test.txt", "qa_dev.txt", "openbook.json")
    parts = [part_of(tmp_path / name) for name in names]
    assert parts == ["train", "train", "test", "test", ""]
    (tmp_path / "kb.txt").write_text("")
    (tmp_path / "1-hop").mkdir()
    (tmp_path / "1-hop" / "qa_dev.txt").write_text("")
    assert beside(tmp_path / "1-hop" / "qa_dev.txt", "other", "kb.txt") == tmp_path / "kb.txt"
    assert beside(tmp_path, "nothing.txt") is None
    assert question_files(tmp_path, r"dev\.txt$") == [tmp_path / "1-hop" / "qa_dev.txt"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("metaqa", "metaqa"), ("pathquestion", "pathquestion"), ("nlpcc", "nlpcc"),
        ("nlpcc-mh", "nlpcc"), ("hotpotqa", "multihop"), ("musique", "multihop"),
        ("midtermqa", "midtermqa"),
    ],
)  # fmt: skip
def test_public_files_are_read_whole(name: str, folder: str, almanac_data: Path) -> None:
    benchmark = read_benchmark(almanac_data / folder, name)
    items = len(benchmark.questions)
    assert items > 40
    assert len({question.id for question in benchmark.questions}) == items
    assert all(question.question and question.answers for question in benchmark.questions)
    train, test = split(benchmark)
    keys = {q.split_key for q in train} - {""}
    assert keys.isdisjoint(q.split_key for q in test)
    if benchmark.halves:
        assert 0.4 < len(train) / items < 0.6
