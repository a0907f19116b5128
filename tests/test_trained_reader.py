"""The trained reader finds answers, refuses where there is none, and shows what comes nearest."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from schemas.answers import Answer, Evidence
from schemas.extras import E5_SMALL
from schemas.settings import EngineSettings
from tasks.models.encoders.e5 import e5_tokenizer
from tasks.models.encoders.vocabulary import load_tokenizer
from tasks.models.packaged import state_of
from tasks.models.span_reader.known_pieces import known_rows, known_tokenizer
from tasks.models.span_reader.networks import MiniLMNetwork
from tasks.models.span_reader.reader import (
    ON_MINILM,
    UNSEEN,
    Span,
    TrainedReader,
    Unit,
    _Found,
    _together,
    both_readers,
    minilm_reader,
    trained_reader,
)
from tasks.models.span_reader.windows import WINDOW, Pieces, windows, without_markup
from tasks.reader.answers import (
    FoundAnswer,
    find_answers,
    find_sentences,
    fits,
    with_probabilities,
    worth_of_lists,
)
from tasks.reader.candidates import TEXTS_READ, candidates
from tasks.reader.coverage import Coverage
from tasks.reader.lists import asks_for_several, asks_for_steps, list_around
from tasks.reader.passage_reader import PassageReader, _lead_ins
from tasks.reader.reading import Reading
from tasks.reader.texts import Text, TextPart, evidence_from
from tasks.text.code_lines import sentences_and_lines
from tasks.text.expected_answer import ExpectedAnswer
from tasks.text.question import analyse
from tests.small_edition import indexed_edition

HARBOUR = (
    "The harbour of Brenholm was built in 1874 by the engineer Tove Lindqvist. Ferries to the "
    "island of Skar leave every two hours, and a ticket costs 12 crowns."
)
KITCHEN = "Soak the beans overnight. Cook them for ninety minutes with onions and a bay leaf."


PLAIN_SOURCE: Any = SimpleNamespace(
    rarity=lambda word: 1.0, names_in=lambda text: [], is_said=lambda name: True
)


@pytest.fixture(scope="module")
def reader() -> TrainedReader:
    return trained_reader()


def text_of(words: str, *parts: tuple[int, int]) -> Text:
    """Return a text whose parts are passages."""
    passages = [
        TextPart(start, end, evidence_from(words[start:end], "passage", None, 1.0))
        for start, end in parts
    ]
    return Text(words, tuple(passages))


def answers_of(reader: TrainedReader, question: str, texts: list[str]) -> list[FoundAnswer]:
    spans = [(span, span.margin) for span in reader.read(question, texts)]
    answers = find_answers(analyse(question), texts, spans, lambda name: ())
    return with_probabilities(answers, reader, ["en"] * len(texts), "words")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who built the harbour of Brenholm?", "Tove Lindqvist"),
        ("In which year was the harbour of Brenholm built?", "1874"),
        ("How much does a ticket to Skar cost?", "12 crowns"),
    ],
)
def test_the_likeliest_span_answers(reader: TrainedReader, question: str, answer: str) -> None:
    best = answers_of(reader, question, [KITCHEN, HARBOUR])[0]
    assert answer in best.text and best.span.text == 1
    assert HARBOUR[best.span.start : best.span.end].strip(" .").removeprefix("the ") == best.text


def test_an_answer_shares_a_word_with_the_question_and_ends_with_its_part(
    reader: TrainedReader,
) -> None:
    words = "harbour open    # opens the harbour gate\nharbour close    # shuts the harbour gate"
    cut = words.index("\n")
    texts = [text_of(words, (0, cut), (cut + 1, len(words)))]
    [_, rows] = candidates(analyse("What does harbour open do?"), texts, PLAIN_SOURCE, reader)
    assert rows and all(row.part.start <= row.span.start for row in rows)
    assert all(row.span.end <= row.part.end for row in rows)
    elsewhere = analyse("Where was Lise Meitner born?")
    [_, unrelated] = candidates(elsewhere, texts, PLAIN_SOURCE, reader)
    assert unrelated == []


def test_only_the_texts_that_say_most_of_a_question_are_read(reader: TrainedReader) -> None:
    kitchens = range(TEXTS_READ[-1] + 3)
    others = [f"Harbour {n} near Brenholm has a kitchen. {KITCHEN}" for n in kitchens]
    texts = [text_of(words, (0, len(words))) for words in (*others, HARBOUR)]
    question = analyse("Who built the harbour of Brenholm?")
    few, spans = (
        [row.span for row in rows] for rows in candidates(question, texts, PLAIN_SOURCE, reader)
    )
    assert [len({span.text for span in read}) for read in (few, spans)] == list(TEXTS_READ)
    [[*rows]] = candidates(question, texts, PLAIN_SOURCE, reader, (1,))
    assert {row.span.text for row in rows} == {TEXTS_READ[-1] + 3}
    best = max(spans, key=lambda span: span.margin)
    assert "Tove Lindqvist" in texts[best.text].words[best.start : best.end]


def test_a_text_in_the_other_language_is_read_though_it_shares_no_words() -> None:
    text = "这座港口由工程师林海生建成。"
    span = Span(0, text.index("林"), text.index("建"), 5.0, 5.0)
    foreign: Any = SimpleNamespace(read=lambda question, texts: [span] if texts else [])
    question = analyse("Which engineer built the harbour of Skar?")
    [*_, [row]] = candidates(question, [text_of(text, (0, len(text)))], PLAIN_SOURCE, foreign)
    assert text[row.span.start : row.span.end] == "林海生" and row.covered == 0.0
    english = text_of("He rests in autumn.", (0, 19))
    [*_, rows] = candidates(question, [english], PLAIN_SOURCE, foreign)
    assert rows == []


def test_what_no_text_answers_is_unlikely(reader: TrainedReader) -> None:
    known = answers_of(reader, "Who built the harbour of Brenholm?", [HARBOUR])
    unknown = answers_of(reader, "Who wrote the anthem of Brenholm?", [KITCHEN])
    assert known[0].probability > max((a.probability for a in unknown), default=0.0) + 0.2


def test_a_name_with_an_apostrophe_is_covered_and_its_ending_is_no_word() -> None:
    coverage = Coverage(analyse("What was O'Neill's profession?"), PLAIN_SOURCE)
    assert coverage.share("O'Neill's profession was painting.") == pytest.approx(1.0)
    assert coverage.share("Its profession was painting.") == pytest.approx(0.5)


def test_no_name_alone_tells_why(reader: TrainedReader) -> None:
    texts = [HARBOUR, "The harbour was built because the old quay of Brenholm silted up."]
    answers = answers_of(reader, "Why was the harbour built?", texts)
    assert answers and all(len(answer.text.split()) >= 3 for answer in answers)


@pytest.mark.parametrize(
    ("text", "span", "answer"),
    [
        (HARBOUR, "ve Lindqv", "Tove Lindqvist"),
        ("《潮汐历》由林海生编写。", "潮汐历》由林海", "潮汐历》由林海"),  # an unknown name
        ("该校成立于朝鲜民主主义人民共和国。", "鲜民主主义人民共和", "朝鲜民主主义人民共和国"),
        ("負責的是吳教授。", "吳教", "吳教授"),
        ("大桥全长约900米。", "约900米", "约900米"),
        ("损耗为百分之二到百分之四。", "二到百分之四", "百分之二到百分之四"),
    ],
)
def test_no_word_of_an_answer_is_cut(text: str, span: str, answer: str) -> None:
    question = analyse("Who built it?" if text == HARBOUR else "是哪个？")
    cut = Span(0, text.index(span), text.index(span) + len(span), 5.0, 5.0)
    [given] = find_answers(question, [text], [(cut, 5.0)], lambda name: ())
    assert given.text == answer


@pytest.mark.parametrize(
    ("text", "span", "answers"),
    [
        ("| Quake | Size | Depth |\n| Jarl | 6.1 | 191 |", "6.1 | 191", []),
        ("| Quake | Size | Depth |\n| Jarl | 6.1 | 191 |", "| 191 |", ["191"]),
        ("Type ls | sort.", "ls | sort", ["ls | sort"]),
    ],
)
def test_an_answer_is_one_cell_of_a_table_at_most(text: str, span: str, answers: list[str]) -> None:
    found = Span(0, text.index(span), text.index(span) + len(span), 5.0, 5.0)
    given = find_answers(analyse("Which is it?"), [text], [(found, 5.0)], lambda name: ())
    assert [answer.text for answer in given] == answers


@pytest.mark.parametrize(
    ("text", "cut", "answer"),
    [
        ("The pier (a quote of 5355 euros) leaks.", "5355 euros)", "5355 euros"),
        ("桥塌了（报价单五千元）。", "五千元）", "五千元"),
    ],
)
def test_an_answer_closes_no_bracket_that_opens_before_it(text, cut, answer):
    found = Span(0, text.index(cut), text.index(cut) + len(cut), 5.0, 5.0)
    question = analyse("How much is the quote?" if text.isascii() else "报价单是多少钱？")
    [given] = find_answers(question, [text], [(found, 5.0)], lambda name: ())
    assert given.text == answer


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [("李云原名叫什么？", "原名叫高桥", "高桥"), ("Otto 被谁收购？", "Lumo 收购", "Lumo")],
)
def test_a_chinese_answer_is_without_the_verb_of_its_question(
    question: str, text: str, answer: str
) -> None:
    span = text.removeprefix("原名")
    found = Span(0, text.index(span), len(text), 5.0, 5.0)
    [given] = find_answers(analyse(question), [text], [(found, 5.0)], lambda name: ())
    assert given.text == answer


def test_an_answer_says_more_than_the_question(reader: TrainedReader) -> None:
    answers = answers_of(reader, "Which island do ferries from Brenholm go to?", [HARBOUR])
    assert answers and all(a.text.lower() not in ("brenholm", "island") for a in answers)


def test_a_sentence_is_worth_all_its_spans_together(reader: TrainedReader) -> None:
    for span in reader.read("When was the harbour of Brenholm built?", [KITCHEN, HARBOUR]):
        assert span.sentence_margin >= span.margin


def test_a_sentence_that_answers_has_the_form_asked_for() -> None:
    span = Span(0, 0, 4, 1.0, 1.0)
    texts = (("How much is a ticket?", 3.0), ("Soak the beans.", 2.0), (HARBOUR, 1.0))
    rows = [(text, span, worth) for text, worth in texts]
    [sentence] = find_sentences(analyse("How much is a ticket?"), rows)
    assert sentence.text == HARBOUR


def test_a_question_answers_nothing() -> None:
    heading = ("**How long do beans soak in Brenholm?**", Span(0, 0, 4, 9.0, 9.0), 9.0)
    body = ("Beans soak overnight.", Span(0, 0, 4, 1.0, 1.0), 1.0)
    [sentence] = find_sentences(analyse("How do beans soak?"), [heading, body])
    assert sentence.text == body[0]


def test_a_sentence_that_only_denies_the_question_answers_nothing() -> None:
    rows = [("She did not build the harbour.", Span(0, 0, 3, 9.0, 9.0), 9.0)]
    assert find_sentences(analyse("Who built the harbour?"), rows) == []


@pytest.mark.parametrize(
    ("text", "expected", "right"),
    [
        ("two hours", ExpectedAnswer("number"), True),
        ("the engineer", ExpectedAnswer("number"), False),
        ("in 1874", ExpectedAnswer("date"), True),
        ("Brenholm", ExpectedAnswer("date"), False),
        *((text, ExpectedAnswer("date"), True) for text in ("April", "Sundays", "quarterly")),
        *((text, analyse("港口建于哪一年？").expected_answer, right)
          for text, right in (("一九三四年", True), ("十八世纪", True), ("林海生", False),
                              ("腊月初八", True), ("周二上午", True), ("重陽節", True),
                              ("开闸之前", True), ("日本", False), ("王天一", False))),
        ("Tove Lindqvist", ExpectedAnswer("name", frozenset({"person"})), True),
        ("Brenholm", ExpectedAnswer("name", frozenset({"person"})), False),
        ("Skar Fishers", ExpectedAnswer("name", frozenset({"place"})), True),
        ("Ida Lind", ExpectedAnswer("name", frozenset({"place"})), False),
    ],
)  # fmt: skip
def test_an_answer_has_the_form_asked_for(text: str, expected: ExpectedAnswer, right: bool) -> None:
    kinds = {"Skar Fishers": ["organisation"], "Ida Lind": ["person"], "Brenholm": ["place"],
             "Tove Lindqvist": ["unknown"]}  # fmt: skip
    assert fits(text, expected, lambda name: kinds.get(name, [])) is right


def test_each_sentence_stands_whole_in_a_window() -> None:
    text = " ".join(f"Ship number {n} carried {n * 7} barrels of fish there." for n in range(60))
    [tokens] = Pieces(load_tokenizer()).texts([text])
    cut = windows(tokens)
    ends = [*tokens.starts[1:], len(tokens.ids)]
    assert all(0 < stop - start <= WINDOW for start, stop in cut)
    for start, stop in zip(tokens.starts, ends, strict=True):
        assert any(first <= start and stop <= last for first, last in cut)


def test_a_sentence_longer_than_a_window_is_read_in_pieces() -> None:
    [tokens] = Pieces(load_tokenizer()).texts(["word " * 500])
    cut = windows(tokens)
    assert cut[0][0] == 0 and cut[-1][1] == len(tokens.ids)
    assert all(after[0] < before[1] for before, after in zip(cut, cut[1:], strict=False))


def test_a_word_that_is_longer_than_a_window_is_not_read() -> None:
    pieces = Pieces(load_tokenizer())
    [tokens] = pieces.texts([f"The stamp of Brenholm is {'kQ7+' * 200}= and it is blue."])
    assert tokens.ids == pieces.question("The stamp of Brenholm is and it is blue.")


def test_markup_is_not_read() -> None:
    text = "Read [the **guide**](https://example.org/a/b) of `Brenholm`."
    assert without_markup(text) == "Read the guide of Brenholm."
    [tokens] = Pieces(load_tokenizer()).texts([text])
    assert not any("example" in text[start:end] for start, end in tokens.offsets)
    assert without_markup("[Moor it][knots] as in [1][].") == "Moor it as in 1."
    assert without_markup(":   Lines at the keel.") == "Lines at the keel."
    assert without_markup("Fish &amp; tar &mdash; `&gt;`") == "Fish & tar — >"
    assert (
        without_markup("It fell.[103][2] In 1879,[4] see row[3].") == "It fell. In 1879, see row3."
    )


@pytest.mark.parametrize("text", ["", " ", "[" * 300, "](" * 200, "<" * 300, "\x00", "港口"])
def test_any_text_is_read(reader: TrainedReader, text: str) -> None:
    assert isinstance(reader.read("Who built it?", [text]), list)


def test_a_list_is_given_whole() -> None:
    def items(text: str, within: str) -> list[str]:
        return (list_around(text, text.index(within)) or ([], (0, 0)))[0]

    text = "It stores:\n\n- **salt**\n- dried [fish](/fish)\n- tar\n\nNothing else."
    assert items(text, "fish") == ["salt", "dried fish", "tar"]
    assert list_around(text, text.index("Nothing")) is None
    nested = "- fish\n  - herring\n\n  - cod\n- tools\n   - saws"
    assert items(nested, "cod") == ["herring", "cod"]
    assert items(nested, "tools") == ["fish", "tools"]
    joined = "Bring:\n\n1. a rope;\n2. a lamp; and/or\n3. Hook and Line.\n\nGo."
    listed, span = list_around(joined, joined.index("lamp")) or ([], (0, 0))
    assert listed == ["a rope", "a lamp", "Hook and Line"]
    assert joined[slice(*span)] == joined[joined.index("1.") : joined.index("\n\nGo")]
    for several in (
        "Which goods are stored there?", "Which three men built it?", "它卖哪些货物？",
        "船上有谁？", "货物包括什么？", "绳子分为几种？",
        "What ports does it have?", "Which stone houses stand there?", "What kinds of fish swim?",
        "Which campus houses are old?", "What menus does it have?", "Which species live there?",
    ):  # fmt: skip
        assert asks_for_several(several)
    for single in (
        "Which ship carried salt?", "Which island was used?", "Who owns the ship?",
        "Which firm owns the ship?", "Which firm builds Kelda?", "What causes rust?",
        "What bonus was paid?", "Which campus is oldest?", "What annual bonus does it pay?",
        "缆绳有什么用途？", "展览开放哪几天？",
    ):  # fmt: skip
        assert not asks_for_several(single)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I salt fish?", True), ("how to salt a herring", True), ("怎样腌鱼？", True),
        ("如何腌鱼？", True), ("How much salt is needed?", False), ("How old is it?", False),
        ("How did he die?", False), ("Who knows how to salt fish?", False),
        ("这种鱼味道怎么样？", False), ("港口是怎样的？", False),
    ],
)  # fmt: skip
def test_steps_are_asked_for(question: str, expected: bool) -> None:
    assert asks_for_steps(question) is expected


class Unsure(TrainedReader):
    """A reader that is surer of sentences than of their words."""

    def __init__(self) -> None:
        super().__init__(MiniLMNetwork(ON_MINILM), card=ON_MINILM.with_suffix(".json"))

    def probability(self, worth: float, gap: float, language: str, unit: Unit) -> float:
        return 0.8 if unit == "sentence" else 0.2


def test_what_is_found_elsewhere_speaks_against_what_says_something_else(
    reader: TrainedReader,
) -> None:
    def answer(text: str, worth: float) -> FoundAnswer:
        return FoundAnswer(text, Span(0, 0, 4, worth, worth), worth)

    def probability(rivals: list[FoundAnswer]) -> float:
        [only] = with_probabilities([answer("1874", 6.0)], reader, ["en"], "words", rivals=rivals)
        return only.probability

    assert probability([answer("1902", 5.5)]) < probability([])
    assert probability([answer("1874", 5.5)]) == probability([])


def test_items_of_one_list_are_no_rivals_and_worth_more_together(reader: TrainedReader) -> None:
    place = ("d", 7)
    rope, tar, fish = (
        FoundAnswer(text, Span(0, 0, 4, 1.0, 1.0), 1.0, list_place=at)
        for text, at in (("rope", place), ("tar", place), ("Fish is sold elsewhere.", None))
    )
    together = worth_of_lists([rope, tar, fish])
    assert [one.worth for one in together] == pytest.approx([1.0 + math.log(2)] * 2 + [1.0])
    alone, listed, split = (
        with_probabilities(answers, reader, ["en"], "sentence")[0].probability
        for answers in ([rope], [rope, tar], [rope, fish])
    )
    assert alone == listed > split


def test_the_line_that_introduces_a_list_belongs_to_its_items() -> None:
    text = "To open the gate:\n\n1. Turn the key. It clicks.\n2. Push.\n\nThen leave.\n- end"
    spans = list(sentences_and_lines(text))
    lead_ins = dict(zip((text[a:b] for a, b in spans), _lead_ins(text, spans), strict=True))
    introduced = {words for words, lead_in in lead_ins.items() if lead_in == "To open the gate:"}
    assert introduced >= {"It clicks.", "2. Push."}
    assert not lead_ins["Then leave."] and not lead_ins["- end"]


def test_an_item_may_introduce_a_list_of_its_own() -> None:
    text = "Rules:\n\n- Bring these:\n  - rope\n  - tar\n- Be early."
    spans = list(sentences_and_lines(text))
    lead_ins = list(_lead_ins(text, spans))
    assert [words.strip("- ") for words in lead_ins] == [
        "", "Rules:", "Bring these:", "Bring these:", "Rules:"
    ]  # fmt: skip


@pytest.fixture(scope="module")
def passages(tmp_path_factory: pytest.TempPathFactory) -> PassageReader:
    folder = tmp_path_factory.mktemp("edition")
    texts = {"Brenholm": HARBOUR, "Beans": KITCHEN}
    made = indexed_edition(folder, texts, {"Brenholm": ("place", [])})
    return PassageReader(made, EngineSettings())


def test_passages_answer_with_their_sentence(passages: PassageReader) -> None:
    answer = passages.answer(analyse("In which year was the harbour of Brenholm built?"), 0.1)
    assert answer.answers[0] == "1874"
    assert answer.evidence[0].text.startswith("The harbour of Brenholm was built in 1874")
    assert answer.probability is not None and answer.probability == answer.evidence[0].score


def test_nothing_is_answered_below_the_least_probability(passages: PassageReader) -> None:
    answer = passages.answer(analyse("In which year was the harbour of Brenholm built?"), 1.0)
    assert answer.answers == [] and answer.evidence[0].text == HARBOUR


def test_where_words_are_not_sure_a_sentence_that_is_answers(passages: PassageReader) -> None:
    question = analyse("In which year was the harbour of Brenholm built?")
    reader = Unsure()
    answer = Reading(passages, reader, 0.5).answer(question)
    assert answer.answers == [HARBOUR.split(". ")[0] + "."] and answer.probability == 0.8
    assert answer.evidence[0].text == answer.answers[0]
    assert Reading(passages, reader, 0.9).answer(question).answers == []


def test_plain_output_says_how_sure_it_is() -> None:
    from flows.commands.ask import answer_in_words

    evidence = [Evidence(text=HARBOUR, kind="passage", uri="harbour.md", score=0.8)]
    answer = Answer(
        question_id="q", question="When?", answer="1874", answers=["1874"], answerable=True,
        route="text", probability=0.8, evidence=evidence, edition="1", seconds=0.1,
    )  # fmt: skip
    assert next(answer_in_words(answer)) == "1874  (80% sure)"


def test_the_second_text_of_a_pair_is_told_from_the_first() -> None:
    network = MiniLMNetwork(ON_MINILM)
    [tokens] = network.pieces.texts(["Tove Lindqvist"])
    states = network.states(network.pieces.pair(tokens.ids, tokens, (0, len(tokens.ids))))
    first, second = states[1 : 1 + len(tokens.ids)], states[-1 - len(tokens.ids) : -1]
    assert not np.allclose(first, second, atol=0.05)


installed = pytest.mark.skipif(
    state_of(E5_SMALL) != "installed", reason="e5-small is not installed"
)


def test_without_e5_small_the_network_on_minilm_reads_alone(monkeypatch) -> None:
    monkeypatch.setattr("tasks.models.span_reader.reader.e5_is_installed", lambda: False)
    assert trained_reader() is minilm_reader()
    answers = answers_of(minilm_reader(), "Who built the harbour of Brenholm?", [HARBOUR])
    assert "Tove Lindqvist" in answers[0].text


@installed
def test_both_networks_find_answers_in_either_language() -> None:
    reader = both_readers()
    chinese = "布伦霍尔姆港由工程师林海生于1874年建成，渡轮每两小时开往斯卡岛一次。"
    for question in ("Who built the harbour of Brenholm?", "谁建成了布伦霍尔姆港？"):
        for text, answer in ((HARBOUR, "Tove Lindqvist"), (chinese, "林海生")):
            [best, *_] = reader.read(question, [text])
            assert answer in text[best.start : best.end]


@installed
def test_known_pieces_are_the_encoders_own_and_others_fall_into_smaller_ones() -> None:
    rows, whole = known_rows(), e5_tokenizer()
    for text in ("Ferries to the island leave every two hours.", KITCHEN, "长江是中国最长的河流。"):
        known = known_tokenizer().encode(text, add_special_tokens=False)
        assert rows[known.ids].tolist() == whole.encode(text, add_special_tokens=False).ids
    ids = known_tokenizer().encode("Достопримечательность", add_special_tokens=False).ids
    assert len(ids) > len(whole.encode("Достопримечательность", add_special_tokens=False).ids)
    assert "".join(map(known_tokenizer().id_to_token, ids)) == "▁Достопримечательность"


def test_margins_are_means_by_the_shares_of_the_networks() -> None:
    first = _Found({(0, 4): (3.0, 1), (5, 9): (-2.0, 1)}, {1: 4.0})
    second = _Found({(0, 4): (8.0, 1), (20, 24): (1.0, 2)}, {1: 9.0, 2: 2.0})
    together = _together([first, second], [0.75, 0.25])
    assert together[0, 4] == pytest.approx((0.75 * 3.0 + 0.25 * 8.0, 0.75 * 4.0 + 0.25 * 9.0))
    sentence = 0.75 * 4.0 + 0.25 * 9.0
    assert together[5, 9] == pytest.approx((sentence - 0.75 * 6.0 - 0.25 * UNSEEN, sentence))
    unread = 0.75 * -UNSEEN + 0.25 * 2.0  # the first network has no token in this sentence
    assert together[20, 24] == pytest.approx((unread - 0.75 * UNSEEN - 0.25 * 1.0, unread))
    assert _together([first], [1.0])[0, 4] == (3.0, 4.0)
