"""Answers become one of the choices by name, by entity, or by likeness; else none."""

from dataclasses import dataclass

import pytest

from tasks.programs.choices import meant_choice
from tasks.programs.knowledge_bases.protocol import Candidate, EntityRef
from tests.graph_knowledge_base import GraphKnowledgeBase

BASE = GraphKnowledgeBase.of(
    ("Gerry Tovey", "state", "New York"), ("Ada Quill", "state", "New York")
)


@dataclass
class ByAlias:
    """Knows one entity by another name."""

    alias: str = "Mister Harbour"
    score: float = 1.0

    def entity_linking(self, query: str, aliases: list[str]) -> list[Candidate]:
        known = self.alias in aliases
        return [Candidate(EntityRef("b", "1", "Gerry Tovey"), self.score)] if known else []


@pytest.mark.parametrize(
    ("choices", "answers", "choice"),
    [
        (("Ada Quill", "Gerry Tovey"), ["Gerry Tovey"], "Gerry Tovey"),
        (("ada quill", "Bo Ray"), ["Nobody", "Ada Quill"], "ada quill"),
        (("Ada Quill", "Gerald Tovey"), ["Gerry Tovey"], "Gerald Tovey"),
        (("Bo Ray", "N/A"), ["Gerry Tovey"], ""),
        (("Bo Ray", "Ada Quill"), [], ""),
        (("李白", "杜甫"), ["杜甫"], "杜甫"),
        (("1819", "1820"), ["25 Mar 1819"], "1819"),
        (("25", "1819"), ["25 Mar 1819"], ""),
        (("Sel", "Ostwick"), ["It was Ada Quill, of Ostwick, who won the race."], "Ostwick"),
        (("Ray", "Ost"), ["Rays of Ostwick"], ""),
        (("青禾镇", "白石镇"), ["她出生在青禾镇的一个农民家庭"], "青禾镇"),
        (("是", "否"), ["不是"], ""),
    ],
)
def test_a_choice_is_named_or_there_is_none(
    choices: tuple[str, ...], answers: list[str], choice: str
) -> None:
    assert meant_choice("Who won?", choices, answers, [BASE]) == choice


def test_a_choice_may_name_the_entity_otherwise() -> None:
    choices = ("Jerome Nadleson", "Mister Harbour")
    assert meant_choice("Who?", choices, ["Gerry Tovey"], [ByAlias()]) == "Mister Harbour"  # type: ignore[list-item]
    unsure = ByAlias(score=0.1)
    assert meant_choice("Who?", choices, ["Gerry Tovey"], [unsure]) == ""  # type: ignore[list-item]
