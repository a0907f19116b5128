"""Invented islands: a graph and questions about it, which no text and no other graph answers."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tasks.questions.question import BenchmarkQuestion

SYLLABLES = (
    "bal", "bri", "cor", "dan", "dov", "eld", "fen", "gar", "hul", "ist", "jor", "kel", "lam",
    "mar", "nev", "ord", "pel", "quin", "ros", "sel", "tam", "ulv", "ven", "wex", "yar", "zel",
)  # fmt: skip
ENDINGS = {"island": "ey", "port": "haven", "ship": "a", "person": "ick"}
CARGOES = (
    "amber",
    "barley",
    "copper",
    "flax",
    "honey",
    "salt",
    "slate",
    "tallow",
    "timber",
    "wool",
)
ISLANDS, PORTS, SHIPS = 12, 24, 60
CHOICES = 4
# Each question: its wordings, and the relations from its subject to the answer.
ASKED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("captain",): ("Who is the captain of the {}?", "Who commands the {}?"),
    ("home port",): ("What is the home port of the {}?", "Where is the {} at home?"),
    ("cargo",): ("What is the cargo of the {}?", "What does the {} carry?"),
    ("birthplace",): ("Where was {} born?", "What is the birthplace of {}?"),
    ("governor",): ("Who governs {}?", "Who is the governor of {}?"),
    ("captain", "birthplace"): (
        "Where was the captain of the {} born?",
        "On which island was the person born who commands the {}?",
    ),
    ("home port", "island"): (
        "On which island does the home port of the {} lie?",
        "Which island has the port where the {} is at home?",
    ),
    ("birthplace", "governor"): (
        "Who governs the birthplace of {}?",
        "Who is the governor of the island where {} was born?",
    ),
}


@dataclass(frozen=True)
class Archipelago:
    """Islands with ports, ships and captains; the two, 0 and 1, have no name in common."""

    number: int

    @cached_property
    def triples(self) -> list[tuple[str, str, str]]:
        """Head, relation and tail of every fact."""
        chance, taken = random.Random(self.number), set[str]()
        syllables = SYLLABLES[self.number :: 2]

        def names(kind: str, count: int) -> list[str]:
            made: list[str] = []
            while len(made) < count:
                name = "".join(chance.sample(syllables, 2)).capitalize() + ENDINGS[kind]
                if name not in taken:
                    taken.add(name)
                    made.append(name)
            return made

        islands, ports, ships = names("island", ISLANDS), names("port", PORTS), names("ship", SHIPS)
        governors, captains = names("person", ISLANDS), names("person", SHIPS)
        facts = [(i, "governor", g) for i, g in zip(islands, governors, strict=True)]
        facts += [(port, "island", chance.choice(islands)) for port in ports]
        for ship, captain in zip(ships, captains, strict=True):
            facts += [
                (ship, "captain", captain),
                (ship, "home port", chance.choice(ports)),
                (ship, "cargo", chance.choice(CARGOES)),
                (captain, "birthplace", chance.choice(islands)),
            ]
        return facts

    @property
    def lines(self) -> str:
        """The facts as a file of tab-separated values."""
        return "".join(f"{head}\t{relation}\t{tail}\n" for head, relation, tail in self.triples)

    def questions(self, *, with_choices: bool) -> list[BenchmarkQuestion]:
        """Return all questions in a seeded order, open or with four choices.

        Those about one subject share a split key.
        """
        chance = random.Random(self.number)
        asked = list(self._questions(chance, with_choices))
        chance.shuffle(asked)
        return asked

    def _questions(self, chance: random.Random, with_choices: bool) -> Iterator[BenchmarkQuestion]:
        tails = {(head, relation): tail for head, relation, tail in self.triples}
        of_relation: dict[str, list[str]] = {}
        for _, relation, tail in self.triples:
            of_relation.setdefault(relation, []).append(tail)
        heads = dict.fromkeys(head for head, _, _ in self.triples)
        for path, wordings in ASKED.items():
            for head in heads:
                answer: str | None = head
                for relation in path:
                    answer = tails.get((answer or "", relation))
                if answer is None:
                    continue
                others = sorted({*of_relation[path[-1]]} - {answer})
                choices = [answer, *chance.sample(others, CHOICES - 1)]
                chance.shuffle(choices)
                form = "choices" if with_choices else "open"
                yield BenchmarkQuestion(
                    id=f"islands-{self.number}/{form}/{head}/{'/'.join(path)}",
                    question=chance.choice(wordings).format(head),
                    answers=(answer,),
                    choices=tuple(choices) if with_choices else (),
                    kind=f"{len(path)} hops",
                    split_key=head,
                    scoring="choice" if with_choices else "text",
                )
