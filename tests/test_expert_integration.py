"""Bottom-up and top-down on made-up writers and deciders; the faults of CooK's code, each once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from schemas.settings import ExpertSettings
from tasks.experts.competence import Certainty
from tasks.experts.filters.pruning import ExtractiveSummarizer
from tasks.experts.integrate.consult import bottom_up, top_down
from tasks.experts.integrate.decisions import (
    Decision,
    down_the_hierarchy,
    fit_knowledge,
    nearest_experts,
)
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.own_answers import (
    Sure as SureOf,
)
from tasks.experts.integrate.own_answers import (
    answer_by_votes,
    best_choice,
)
from tasks.experts.integrate.writing import TextWriter, as_question, statement
from tasks.experts.knowledge import KnowledgeText
from tasks.text.question import Question

QUESTION = "Who wound the clock of Lund?"
ABOUT = {"clocks": "clocks and towers of Lund", "fish": "cod, eels and herring"}
WORDS = ("clock", "lund", "tower", "cod", "eel", "herring", "bergen", "wound")


def encode(texts: list[str]) -> np.ndarray:
    """Count known words; a text with none of them has a direction of its own."""
    rows = [[text.lower().count(word) for word in WORDS] for text in texts]
    return np.array([[*row, not any(row)] for row in rows], float)


class Clocks:
    """Writes numbered texts; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def write(
        self,
        expert: str,
        prompts: Sequence[str],
        count: int = 1,
        seed: int = 0,
        *,
        max_new_tokens: int = 0,
        temperature: float = 1.0,
    ) -> list[list[str]]:
        self.asked.append((expert, tuple(prompts), count, seed, temperature))
        about = "the clock of Lund" if expert == "clocks" else "cod and herring"
        return [[f"text {n} of seed {seed} about {about}" for n in range(count)] for _ in prompts]

    def certainty(self, expert: str, question: Question, answers: Sequence[str]) -> Certainty:
        return SURE


class Sure:
    """Verifies by a number in the claim: the higher, the truer."""

    id = "sure"

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.pairs += pairs
        shares = [int(claim.split()[1]) / 10 if claim[:5] == "text " else 0.5 for _, claim in pairs]
        return np.array([[share, 0.0, 1 - share] for share in shares]).reshape(-1, 3)

    def faithful(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        self.pairs += pairs
        return np.ones(len(pairs))


class Fake:
    """Decides as it was told; keeps the order of questions."""

    def __init__(
        self, *votes: float | None, wanted: str | None = "clocks of Lund", names: str = "fish"
    ):
        self.votes, self.words, self.names = list(votes), wanted, names
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    def needs_more(self, question: str, knowledge: Sequence[str]) -> float | None:
        self.calls.append(("needs_more", tuple(knowledge)))
        return self.votes.pop(0)

    def wanted(self, question: str, knowledge: Sequence[str]) -> str | None:
        self.calls.append(("wanted", tuple(knowledge)))
        return self.words

    def choose(
        self, question: str, knowledge: Sequence[str], descriptions: Mapping[str, str]
    ) -> str | None:
        self.calls.append(("choose", tuple(descriptions)))
        return self.names if self.names in descriptions else None


SURE, UNSURE = Certainty(0.9, is_enough=True), Certainty(0.1, is_enough=False)
PARTS = {"bells": "bells of Lund", **ABOUT}
YES, NO = 1.0, 0.0


def filters(verifier: Any = None, **options: Any) -> Filters:
    settings = ExpertSettings(**{"greedy": True, "prompts": "plain", **options})
    return Filters(
        settings,
        encode,
        ExtractiveSummarizer(encode),
        verifier or Sure(),
        lambda expert: lambda claim: ["x"],
        ABOUT,
    )


def off(**options: Any) -> Filters:
    return filters(relevance=False, pruning=False, factuality=False, **options)


def run_bottom_up(chain: Filters, **options: Any) -> tuple[list[KnowledgeText], list[Decision]]:
    decisions: list[Decision] = []
    writer = TextWriter(Clocks(), ExpertSettings(**{"prompts": "plain", **options}))
    kept = bottom_up(QUESTION, list(ABOUT), writer.knowledge, chain, decisions.append)
    return kept, decisions


def run_top_down(decider: Fake, mode: Any = "automatic", **options: Any) -> Any:
    decisions: list[Decision] = []
    writer = TextWriter(clocks := Clocks(), ExpertSettings(prompts="plain", written=4))
    kept = top_down(
        QUESTION, ABOUT, {}, decider, writer.knowledge, filters(), decisions.append, mode=mode,
        encode=encode, **options,
    )  # fmt: skip
    return kept, decisions, clocks


# -- bottom-up -----------------------------------------------------------------------------------


def test_every_expert_writes_n1_texts_and_each_has_a_decision():
    kept, decisions = run_bottom_up(filters(relevant=4, kept=2), written=5)
    assert len(decisions) == 5 * len(ABOUT)
    assert [text.expert for text in kept] == ["clocks", "clocks"]
    reasons = [decision.reason for decision in decisions]
    assert reasons.count(None) == 2 and reasons.count("relevance") == 6
    assert reasons.count("sampled") == 2
    # The truest of the four most relevant, the best first.
    assert [text.text.split()[1] for text in kept] == ["3", "2"]
    assert all(d.text and d.text.relevance is not None for d in decisions)


def test_no_text_is_seen_twice():
    class Parrot(Clocks):
        def write(self, expert: str, prompts: Sequence[str], count: int = 1, *_: Any, **__: Any):  # type: ignore[no-untyped-def]
            return [["The clock of Lund is old."] * count for _ in prompts]

    for greedy in (True, False):
        decisions: list[Decision] = []
        writer = TextWriter(Parrot(), ExpertSettings(written=5))
        chain = filters(greedy=greedy)
        kept = bottom_up(QUESTION, list(ABOUT), writer.knowledge, chain, decisions.append)
        words = [text.words for text in kept]
        assert len(set(words)) == len(words)
        assert "repeated" in {decision.reason for decision in decisions}


def test_filters_work_in_the_order_of_the_paper():
    long = "The clock of Lund was wound by Berta Quist. " + "Nothing else is known of it. " * 8
    verifier = Sure()
    chain = filters(verifier, relevant=1)
    texts = [KnowledgeText("clocks", long), KnowledgeText("fish", "Cod and herring. " * 10)]
    checked = {text.expert: text for text in chain.keep(QUESTION, texts)}
    # Relevance came before pruning, and pruning before the facts were checked.
    assert checked["fish"].dropped == "relevance" and checked["fish"].pruned is None
    assert checked["clocks"].pruned and len(checked["clocks"].pruned) < len(long)
    claims = [claim for evidence, claim in verifier.pairs if evidence == "x"]
    assert claims == [checked["clocks"].pruned]
    # The summary is compared with the original, evidence first.
    assert long in [evidence for evidence, _ in verifier.pairs]


@pytest.mark.parametrize("filter_name", ["relevance", "pruning", "factuality"])
def test_each_filter_can_be_off(filter_name):
    kept, decisions = run_bottom_up(filters(**{filter_name: False}))
    assert len(kept) == 3 and len(decisions) == 6
    if filter_name == "relevance":
        assert all(d.text and d.text.relevance is None for d in decisions)
    if filter_name == "factuality":
        assert all(d.text and d.text.score is None for d in decisions)


def test_with_all_filters_off_each_expert_is_seen():
    kept, decisions = run_bottom_up(off())
    assert [text.expert for text in kept] == ["clocks", "fish", "clocks"]
    assert {decision.reason for decision in decisions} == {None, "budget"}
    assert not any(text.pruned or text.score for text in kept)


def test_nothing_written_is_nothing_kept():
    chain = filters()
    assert bottom_up(QUESTION, [], lambda *_: [], chain, print) == []
    decisions: list[Decision] = []
    assert bottom_up(QUESTION, ["fish"], lambda *_: ["", "?!"], chain, decisions.append) == []
    assert [decision.reason for decision in decisions] == ["empty", "empty"]


def test_knowledge_fits_its_budget_with_the_best_first():
    texts = [KnowledgeText("e", "word " * 30 + str(n), score=n / 10) for n in range(4)]
    fitted = fit_knowledge(texts, 70)
    assert [text.score for text in fitted] == [0.3, 0.2, 0.1, 0.0]
    assert [text.dropped for text in fitted] == [None, None, "budget", "budget"]
    assert fit_knowledge(texts, 1)[0].dropped is None


def test_sampling_favours_no_place_throughout():
    texts = [KnowledgeText("e", f"the clock is number {n}") for n in range(6)]
    chain = filters(greedy=False, relevance=False, kept=3)
    drawn = [
        frozenset(t.text for t in chain.keep(f"question {n}", texts) if not t.dropped)
        for n in range(20)
    ]
    assert len(set(drawn)) > 5
    assert drawn[0] == frozenset(t.text for t in chain.keep("question 0", texts) if not t.dropped)


def test_an_expert_is_judged_without_what_it_was_trained_on():
    asked: list[str] = []

    def evidence_for(expert: str) -> Any:
        asked.append(expert)
        return lambda claim: []

    chain = Filters(ExpertSettings(), encode, None, Sure(), evidence_for)
    run_bottom_up(chain)
    assert sorted(asked) == ["clocks", "fish"]


# -- top-down ------------------------------------------------------------------------------------


def test_automatic_asks_in_the_order_of_the_paper():
    decider = Fake(YES, YES, NO)
    kept, decisions, clocks = run_top_down(decider, iterations=5)
    first, second = kept[0].words, kept[1].words
    assert decider.calls == [
        ("needs_more", ()),
        ("wanted", ()),
        ("needs_more", (first,)),
        ("wanted", (first,)),
        ("needs_more", (first, second)),
    ]
    assert [call[0] for call in clocks.asked] == ["clocks", "clocks"]
    kinds = ["need", "wanted", "expert", *["text"] * 4]
    assert [decision.kind for decision in decisions] == [*kinds, *kinds, "need"]
    assert [d.decision for d in decisions if d.kind == "need"] == ["yes", "yes", "no"]
    assert decisions[2].reason == "nearest" and decisions[2].score > 0.8


def test_the_text_with_the_highest_factuality_is_kept():
    kept, _, _ = run_top_down(Fake(YES, NO), iterations=3)
    assert [text.words.split()[1] for text in kept] == ["3"]


def test_the_loop_ends_at_its_limit():
    decider = Fake(YES, YES, YES, YES)
    kept, _, clocks = run_top_down(decider, iterations=2)
    assert len(kept) == 2 and len(decider.votes) == 2 and len(clocks.asked) == 2
    assert run_top_down(Fake(YES, YES))[0] and ExpertSettings().iterations == 1


def test_rounds_do_not_repeat_a_text():
    kept, _, clocks = run_top_down(Fake(*[YES] * 4), iterations=4)
    assert len({text.words for text in kept}) == 4
    assert [call[3] for call in clocks.asked] == [0, 1, 2, 3]  # each round has its seed


def test_the_expert_gets_the_question_and_never_the_prompt_so_far():
    for wanted in ("clocks of Lund", None):
        _, _, clocks = run_top_down(Fake(YES, YES, NO, wanted=wanted), iterations=3)
        assert {prompt for call in clocks.asked for prompt in call[1]} == {QUESTION}


def test_explicit_asks_the_expert_that_is_named_and_no_other():
    kept, decisions, clocks = run_top_down(Fake(YES, NO), "explicit", iterations=2)
    assert [call[0] for call in clocks.asked] == ["fish"] and kept[0].expert == "fish"
    assert (decisions[1].kind, decisions[1].reason, decisions[1].expert) == (
        "expert", "named", "fish",
    )  # fmt: skip
    for name in ("nobody", ""):  # never one at random
        kept, decisions, clocks = run_top_down(Fake(YES, names=name), "explicit")
        assert (kept, clocks.asked, decisions[-1].decision) == ([], [], "none")


def test_without_a_valid_reply_nothing_is_fetched():
    kept, decisions, clocks = run_top_down(Fake(None))
    assert (kept, clocks.asked, decisions[0].reason) == ([], [], "no_reply")


# -- writing -------------------------------------------------------------------------------------


def test_half_of_the_texts_answer_the_question():
    writer = TextWriter(clocks := Clocks(), ExpertSettings(written=3, seed=7))
    texts = writer.knowledge("clocks", QUESTION)
    assert [(call[1], call[2], call[3]) for call in clocks.asked] == [
        ((as_question(QUESTION),), 2, 7),
        ((QUESTION,), 1, 7),
    ]
    assert [text.startswith("Who wound the clock of Lund: text") for text in texts] == [
        True,
        True,
        False,
    ]


def test_questions_are_written_for_at_once_and_remembered():
    writer = TextWriter(clocks := Clocks(), ExpertSettings())
    questions = ["One?", "Two?", "One?"]
    writer.prepare_answers("clocks", questions)
    writer.prepare_knowledge("clocks", questions)
    questions_asked = list(clocks.asked)
    assert all(len(call[1]) == 2 for call in questions_asked)
    assert len(writer.answers("clocks", "Two?")) == 1 + 3
    assert len(writer.knowledge("clocks", "One?")) == 3
    assert clocks.asked == questions_asked
    writer.forget()
    writer.answers("clocks", "One?")
    assert len(clocks.asked) > len(questions_asked)


def test_a_pruned_answer_is_still_an_answer():
    assert statement("Who?", " Berta \nQuestion: Who else?") == "Who: Berta"
    assert statement("Who?", "\n") == ""
    long = "The clock of Lund has stopped. " * 8 + "Who winds it?"
    assert statement(long, "Berta") == "Berta"
    assert len(statement("x" * 100, "Berta")) < 120  # the pruning filter leaves it alone


# -- the experts' own answers --------------------------------------------------------------------


def votes_of(
    answers: Mapping[str, Sequence[str]], sure: SureOf = lambda *_: SURE, **options: Any
) -> Any:
    decisions: list[Decision] = []
    chain = filters(**options)
    voted = answer_by_votes(
        QUESTION, ABOUT, lambda expert, _: list(answers[expert]), sure, chain, decisions.append,
        encode=encode, most=5,
    )  # fmt: skip
    return voted, decisions


def test_answers_that_mean_the_same_share_their_votes():
    written = {
        "clocks": ["Berta Quist", "berta quist.", "Nils Ek", "Berta Quist", ""],
        "fish": ["Cod", "Eel", "Herring", "Salmon", "?"],
    }
    answers, decisions = votes_of(written)
    assert [answer.answer for answer in answers] == ["Berta Quist"]
    assert answers[0].votes == pytest.approx(0.6, abs=0.01)
    assert answers[0].text.text == "Who wound the clock of Lund: Berta Quist"
    assert [d.reason for d in decisions] == [None, *["votes"] * 5]
    assert votes_of({"clocks": [""], "fish": []})[0] == []


def test_a_refuted_answer_loses_to_one_with_fewer_votes():
    class Refutes(Sure):
        def verify(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
            rows = [[0, 1, 0] if "Ek" in claim else [1, 0, 0] for _, claim in pairs]
            return np.array(rows, float).reshape(-1, 3)

    chain = Filters(ExpertSettings(), encode, None, Refutes(), lambda expert: lambda claim: ["x"])
    written = ["Nils Ek", "Nils Ek", "Nils Ek", "Berta Quist", "Berta Quist"]
    answers = answer_by_votes(
        QUESTION, {"clocks": "clocks"}, lambda *_: written, lambda *_: SURE, chain, [].append,
        encode=encode, most=5,
    )  # fmt: skip
    assert [answer.answer for answer in answers] == ["Berta Quist"]
    assert answers[0].probability == pytest.approx(0.04)  # two fifths of what "Nils Ek" leaves


def test_a_choice_is_found_by_words_then_by_likeness():
    def chosen(answer: str, *choices: str) -> str:
        return best_choice({answer: 1.0}, choices, encode)

    assert chosen("berta QUIST!", "Nils Quist", "Berta Quist") == "Berta Quist"
    assert chosen("the old Quist", "Nils Ek", "Berta Quist") == "Berta Quist"
    assert chosen("herring", "a clock in Lund", "an eel, not a herring") == "an eel, not a herring"
    assert chosen("towers", "cod", "tower bells") == "tower bells"


def test_an_unsure_expert_has_no_vote():
    written = {"clocks": ["Berta Quist"] * 4, "fish": ["Cod"] * 4}
    answers, decisions = votes_of(written, lambda name, _: SURE if name == "fish" else UNSURE)
    assert [(answer.answer, answer.votes, answer.probability) for answer in answers] == [
        ("Cod", 1.0, 0.9)
    ]
    assert [(d.expert, d.reason, d.score) for d in decisions][0] == ("clocks", "unsure", 0.1)
    assert votes_of(written, lambda *_: UNSURE)[0] == []


def test_the_nearest_expert_is_found_by_its_description():
    assert nearest_experts(encode, "eels in Bergen", ABOUT, {})[-1][0] == "fish"
    assert nearest_experts(encode, "a tower", ABOUT, {})[-1][0] == "clocks"


def test_a_part_of_a_field_is_chosen_where_it_is_nearer_than_the_whole():
    parents = {"bells": "clocks"}
    way = nearest_experts(encode, "Who cast the bells of Lund?", PARTS, parents)
    assert [name for name, _ in way] == ["clocks", "bells"]
    way = nearest_experts(encode, "the clock tower of Lund", PARTS, parents)
    assert [name for name, _ in way] == ["clocks"]
    assert nearest_experts(encode, "eels", PARTS, parents)[-1][0] == "fish"


def test_a_model_names_a_field_and_then_one_of_its_parts():
    shown: list[tuple[str, ...]] = []

    def choose(level: Mapping[str, str]) -> str:
        shown.append(tuple(level))
        return "clocks" if "bells" not in level else "bells"

    assert down_the_hierarchy(PARTS, {"bells": "clocks"}, choose) == ["clocks", "bells"]
    assert shown == [("clocks", "fish"), ("clocks", "bells")]
    assert down_the_hierarchy(PARTS, {}, lambda level: None) == []


def test_no_expert_is_first_for_every_question():
    firsts = set()
    for number in range(8):
        decisions: list[Decision] = []
        off = ExpertSettings(relevance=False, pruning=False, factuality=False)
        filters = Filters(off, encode)
        bottom_up(
            f"{QUESTION} {number}", ["a", "b", "c"], lambda e, q: [f"{e} says so"], filters,
            decisions.append,
        )  # fmt: skip
        firsts.add(decisions[0].expert)
    assert firsts == {"a", "b", "c"}
