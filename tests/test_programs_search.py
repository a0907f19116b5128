"""Searching by programs: several knowledge bases, repair, rounds, answers, models' writing."""

import ast
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.models.prompts.replies import AnswerReply, Program
from tasks.programs.code_text import quoted_texts, readable_code
from tasks.programs.interpreter_gaps import adapted
from tasks.programs.knowledge_bases.protocol import EntityRef, Fact, Place
from tasks.programs.limits import Limits
from tasks.programs.program_run import run_program
from tasks.programs.search_program import Hint, ProgramSearch, answer_by_program
from tasks.text.question import Question, analyse
from tasks.text.values.value import listed
from tests.graph_knowledge_base import GraphKnowledgeBase

FILMS = GraphKnowledgeBase.of(
    ("Alien", "directed_by", "Ridley Scott"), ("Ridley Scott", "born in", "South Shields"),
    ("Gladiator", "directed_by", "Ridley Scott"), name="Films", graph="films",
)  # fmt: skip
PLACES = GraphKnowledgeBase.of(
    ("South Shields", "country", "England"), ("Alien", "genre", "horror"),
    name="Places", graph="places",
)  # fmt: skip
LOOK_UP = """
def search():
    messages = []
    found, message = find_entity_or_value(entity_aliases=['{0}'], relation_aliases=['{1}'])
    messages.append(message)
    answers.extend(found or [])
    return '\\n'.join(messages)
"""


TOKENS = listed(
    "def f(x): if else for in while True: \n \n  ( ) [ ] { } , : = == + - * ** / // % @ := -> . * "
    "lambda return yield del class import from as try: except finally: with match case _ "
    "None 1 9 10**9 'a' f'{x}' x f answers search() print( len( range( sorted( max( key= "
    "find_entity_or_value(['Alien'],['director']) get_entity_info( global nonlocal async await "
    "__import__ __class__ not and or is break continue pass raise assert",
    " ",
)


class Script:
    """A writer that says what it was given, and keeps what it was told."""

    def __init__(self, *replies: Program | None) -> None:
        self.replies, self.told = list(replies), []

    def write(self, question: Question, relations_hint: Hint) -> Program | None:
        self.told.append(relations_hint)
        return self.replies[len(self.told) - 1] if len(self.told) <= len(self.replies) else None


class Reader:
    def __init__(self, answer: str = "") -> None:
        self.answer, self.seen = answer, []

    def phrase(self, question: Question, knowledge: list[str]) -> AnswerReply:
        self.seen = knowledge
        known = "yes" if self.answer else "no"
        return AnswerReply(thought="", answerable=known, answer=self.answer)


def program(code: str, ok: str = "yes", need: str = "yes") -> Program:
    return Program(need_knowledge=need, thought="t", code=code, introspection="", ok=ok)


def look_up(entity: str, relation: str, ok: str = "yes") -> Program:
    return program(LOOK_UP.format(entity, relation), ok)


def test_one_program_runs_over_every_knowledge_base() -> None:
    writer = Script(look_up("Alien", "directed_by"))
    found = ProgramSearch(writer, [FILMS, PLACES]).search(analyse("Who directed Alien?"))
    assert len(writer.told) == 1
    assert [run.knowledge_base for run in found.runs] == ["Films", "Places"]
    assert found.answers == ["Ridley Scott"]
    assert [line.partition("]")[0] for line in found.knowledge] == ["[FROM Films", "[FROM Places"]


def test_what_fails_is_written_once_more_with_the_relations_that_exist() -> None:
    failing = LOOK_UP.format("Alien", "directed_by").replace("answers.extend", "answers.enlarge")
    writer = Script(program(failing), look_up("Alien", "directed_by"))
    found = ProgramSearch(writer, [FILMS]).search(analyse("Who directed Alien?"))
    assert found.answers == ["Ridley Scott"] and not found.error
    assert "enlarge" in writer.told[1].error and writer.told[1].code
    assert writer.told[1].relations == ("directed_by",)


def test_an_unreadable_program_is_shown_the_relations_of_what_it_names() -> None:
    writer = Script(program("def search(:\n    find('Alien', 'x')"), look_up("Alien", "genre"))
    found = ProgramSearch(writer, [PLACES]).search(analyse("What genre?"))
    assert writer.told[1].relations == ("genre",) and writer.told[1].error
    assert found.answers == ["horror"]


def test_an_empty_result_is_tried_once_more_and_no_third_time() -> None:
    writer = Script(*[look_up("Alien", "colour of the poster")] * 5)
    found = ProgramSearch(writer, [FILMS]).search(analyse("q"))
    assert len(writer.told) == 2
    assert writer.told[1].error == "nothing was found" and not found.answers


def test_a_program_that_its_writer_does_not_trust_is_written_again() -> None:
    writer = Script(look_up("Alien", "directed_by", ok="no"), look_up("Gladiator", "directed_by"))
    found = ProgramSearch(writer, [FILMS]).search(analyse("q"))
    assert len(writer.told) == 2
    assert len(found.knowledge) == 2  # messages of both


def test_what_was_found_stays_if_the_second_program_finds_nothing() -> None:
    writer = Script(look_up("Alien", "directed_by", ok="no"), look_up("Nobody", "x"))
    assert ProgramSearch(writer, [FILMS]).search(analyse("q")).answers == ["Ridley Scott"]


def test_a_question_that_needs_no_knowledge_gets_none() -> None:
    poem, reader = analyse("Write a poem"), Reader("Roses are red")
    one, two = (ProgramSearch(Script(program("", need="no")), [FILMS]) for _ in range(2))
    found = one.search(poem)
    assert not found.need_knowledge and not found.runs
    assert answer_by_program(poem, two, reader).answer == "Roses are red"
    assert reader.seen == []


def test_rounds_search_again_with_what_was_found_and_end() -> None:
    writer = Script(
        look_up("Alien", "directed_by"), look_up("Ridley Scott", "born in"), program("", need="no")
    )
    search = ProgramSearch(writer, [FILMS], rounds=4)
    found = search.search(analyse("Where was Alien's director born?"))
    assert found.answers == ["South Shields"]
    assert writer.told[1].final and "Ridley Scott" in "".join(writer.told[1].messages)
    assert len(found.knowledge) == 2 and len(writer.told) == 3


def test_rounds_are_bounded() -> None:
    writer = Script(*[look_up("Alien", "directed_by " + "x" * n) for n in range(50)])
    ProgramSearch(writer, [FILMS], rounds=50).search(analyse("q"))
    assert len(writer.told) <= 8


def test_values_that_a_program_collected_are_the_answer_with_their_evidence() -> None:
    writer = Script(look_up("Ridley Scott", "inverse of directed_by"))
    question = analyse("What did Ridley Scott direct?")
    answer = answer_by_program(question, ProgramSearch(writer, [FILMS]))
    films = ["Alien", "Gladiator"]
    assert answer.answers == films
    assert {e.text for e in answer.evidence} == {f"{f}, directed_by: Ridley Scott" for f in films}
    assert {(e.graph, e.kind, e.score) for e in answer.evidence} == {("films", "triple", 1.0)}


def test_without_values_the_messages_are_read() -> None:
    code = "def search():\n    return get_entity_info(['Alien'])[1]"
    for answer in ("a film", None):
        reader, search = Reader(answer or ""), ProgramSearch(Script(program(code)), [FILMS])
        assert answer_by_program(analyse("What is Alien?"), search, reader).answer == answer
        assert "directed_by -> Ridley Scott" in reader.seen[0]


def test_evidence_says_where_a_document_states_a_fact() -> None:
    class Cited(GraphKnowledgeBase):
        def get_entity_triples(self, entity: EntityRef) -> list[Fact]:
            place = Place("d1", "films.md", 10, 20)
            return [replace(f, place=place) for f in super().get_entity_triples(entity)]

    kb = Cited.of(("Alien", "genre", "horror"))
    answer = answer_by_program(analyse("q"), ProgramSearch(Script(look_up("Alien", "genre")), [kb]))
    [one] = answer.evidence
    assert (one.document_id, one.uri, one.span_start, one.span_end) == ("d1", "films.md", 10, 20)


def test_a_reader_has_the_word_over_values() -> None:
    def answered(said: str) -> list[str]:
        writer = Script(look_up("Ridley Scott", "inverse of directed_by"))
        return answer_by_program(analyse("q"), ProgramSearch(writer, [FILMS]), Reader(said)).answers

    assert answered("Alien and Gladiator") == ["Alien", "Gladiator"]
    assert answered("Gladiator") == ["Alien", "Gladiator"]
    assert answered("Two films") == ["Two films"]
    assert answered("") == []


def test_no_writer_no_answer() -> None:
    assert not answer_by_program(analyse("q"), ProgramSearch(Script(), [FILMS])).answer


# -- models' writing ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("x = ‘Alien’", "x = 'Alien'"), ("x = “Alien”", 'x = "Alien"'),
        ("x = [‘O’Brien’, ‘b’]", "x = ['O’Brien', 'b']"), ("x = 'What’s Up'", "x = 'What’s Up'"),
        ('x = "他说“你好”"', 'x = "他说“你好”"'), ("print（‘红楼梦’，1）", "print('红楼梦',1)"),
        ("# it’s\nx = ‘a’", "# it’s\nx = 'a'"), ("```python\nx = 1\n```", "x = 1"),
        ("x = '''it’s\n‘fine’'''", "x = '''it’s\n‘fine’'''"),
        ("m = []\nreturn m", "def search():\n    m = []\n    return m"),
        ('x = “say "hi"”', 'x = "say \\"hi\\""'),
    ],
)  # fmt: skip
def test_typography_is_mended_where_code_stands(written: str, meant: str) -> None:
    assert readable_code(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("for k in list(d): del d[k]", "for k in list(d): d.pop(k)"),
        ("del a, b[k], (c, d[1:2])", "a = None; b.pop(k); c = None; d[1:2] = []"),
        ("del (a + b)[0]  # del c", "(a + b).pop(0)  # del c"),
        ("变 = '人'; del 变, d['人']; x = 1", "变 = '人'; 变 = None; d.pop('人'); x = 1"),
        ("r.sort(key=str.lower)", "r[:] = sorted(r, key=lambda _item: _item.lower())"),
        ("s[0].t.sort(key=f, reverse=True)", "s[0].t[:] = sorted(s[0].t, key=f, reverse=True)"),
        ("del d[max(d, key=d.get)]", "d.pop(max(d, key=lambda _item: d.get(_item)))"),
        ("x = map(d.get, keys)", "x = map(lambda _item: d.get(_item), keys)"),
        *((same, same) for same in (
            'note = """\ndel x\nbox.sort(key=d.get)\n"""',
            "x = 'sorted(a, key=d.get)'  # del x",
            "r.sort()",
            "map(math.sqrt, xs)",
            "look_up(key=self.name)",
            "del x, = y",
        )),
    ],
)  # fmt: skip
def test_what_the_interpreter_lacks_is_rewritten_and_nothing_else(written: str, meant: str) -> None:
    assert _parsed(adapted(written)) == _parsed(meant)


def _parsed(code: str) -> str:
    try:
        return ast.dump(ast.parse(code))
    except SyntaxError:
        return code


CODE = st.text(st.sampled_from("ab =[](),:'\"‘’“”（，）#\\\n.x1"), max_size=60)


@given(CODE)
def test_any_text_is_readable_and_stays_so(text: str) -> None:
    once = readable_code(text)
    quoted_texts(text)
    adapted(text)
    if not set("‘’“”") & set(once):
        assert readable_code(once) == once


@given(st.text(st.sampled_from("ab =[](),:'\"#\n.x1"), max_size=60).filter(lambda t: t.strip("\n")))
def test_plain_code_stays_as_it_is(text: str) -> None:
    assert readable_code(text) == text.strip("\n")


@settings(max_examples=150)
@given(st.lists(st.sampled_from(TOKENS), max_size=30).map(" ".join))
def test_no_program_brings_the_caller_down(text: str) -> None:
    run = run_program(text, FILMS, "q", Limits(seconds=0.2, memory=32 << 20, calls=20))
    assert run.error is None or len(run.error) <= 500


def test_the_texts_of_a_program_are_found() -> None:
    code = "x = ['Alien', \"Ridley Scott\"] # 'no'\ny = 'Alien'\nz = '''long'''"
    assert quoted_texts(code) == ["Alien", "Ridley Scott", "long"]
