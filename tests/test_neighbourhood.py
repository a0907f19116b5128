"""Programs for knowledge bases that lie elsewhere, planned in what is around a question's names."""

import pytest

from schemas.settings import EngineSettings, KnowledgeBaseSettings, Settings
from tasks.ask.asker import Asker
from tasks.programs.knowledge_bases.protocol import EntityRef
from tasks.programs.planner.writer import NeighbourhoodWriter
from tasks.programs.search_program import Hint, ProgramSearch
from tasks.text.question import analyse
from tests.current_edition import current
from tests.film_knowledge_base import films
from tests.graph_knowledge_base import GraphKnowledgeBase
from warehouse.home import Home


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What is the release year of Alien?", ["1979"]),
        ("What was Ridley Scott's date of birth?", ["30 November 1937"]),
        ('What is the budget of the film "Titanic"?', ["200 million USD"]),
        ("Where was the director of Titanic born?", ["Kapuskasing"]),  # two relations, in turn
    ],
)
def test_a_relation_that_the_question_says_is_asked_for(question, answers):
    found = ProgramSearch(NeighbourhoodWriter(films()), [films()]).search(analyse(question))
    assert found.error is None and found.answers == answers


@pytest.mark.parametrize(
    "question",
    ["What is the colour of Alien?", "Who is the spouse of the director of Titanic?", "why?", ""],
)
def test_what_no_relation_says_gets_no_program(question):
    assert NeighbourhoodWriter(films()).write(analyse(question), Hint()) is None


def test_only_a_few_names_are_looked_up():
    linked: list[str] = []

    class Counting(GraphKnowledgeBase):
        def entity_linking(self, query, aliases):  # type: ignore[no-untyped-def]
            linked.extend(aliases)
            return super().entity_linking(query, aliases)

    question = "Is " + ", ".join(f"Town{n} Hall" for n in range(30)) + " in Rome?"
    NeighbourhoodWriter(Counting.of(("Rome", "river", "Tiber"))).write(analyse(question), Hint())
    assert len(linked) <= 4
    assert EntityRef("x", "1", "Rome").name == "Rome"


@pytest.mark.parametrize(
    ("question", "answer", "base"),
    [
        ("What is the occupation of Mira Holt?", "composer", "wikidata"),
        ("What is the population of Bergen?", "285601", "wikipedia"),
        ("小李的出生地是哪里？", "卑尔根", "cn-dbpedia"),
    ],
)
def test_remote_knowledge_bases_are_asked_by_the_language(world, own_home, question, answer, base):
    bases = KnowledgeBaseSettings(**world.settings(), languages={"en": (base,), "zh": (base,)})
    settings = Settings(engine=EngineSettings(encoder="none"), knowledge_bases=bases)
    with Asker(Home(own_home), current(own_home), settings) as asker:
        found = asker.answer(question)
    assert (found.answer, found.route) == (answer, "programs")
    assert found.evidence[0].graph == base
