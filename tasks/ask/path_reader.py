"""Answer from parts of a graph: an arm extracts and phrases them, a reader answers from them.

An arm is a strategy and a template (KnowGPT, section 3.5). The reader is the language model of the
settings; without one, vectors compare each choice, and the paths to it, with the question.
"""

from collections.abc import Sequence

import numpy as np

from tasks.ask.phrasing import phrased_answer
from tasks.experts.filters.selection import Encode
from tasks.graphs.graph import Nodes
from tasks.models.client import BlockingClient
from tasks.paths.bandit.bandit import arm_names
from tasks.paths.path import Extracted, GroundedQuestion, Path
from tasks.paths.path_graph import PathGraph
from tasks.paths.templates import TEMPLATES, Limit, Phrased, Template, Templates
from tasks.programs.written_program import Conversation
from tasks.text.question import Question

ROOM = 200  # tokens of graph knowledge that a reader sees
MOST_ABOUT = 2  # paths to one choice, or edges at it, that are compared with the question
SPREAD = 0.05  # difference in likeness by which a choice is e times as probable
WEIGHT = 0.25  # of these relative to the choice itself; more did worse on training questions


def _leading_to(extracted: Extracted, nodes: Nodes) -> Extracted:
    """Return the best paths to some nodes, or the best edges at them."""
    paths = [path for path in extracted.paths if path.nodes[-1] in nodes][:MOST_ABOUT]
    if extracted.paths:
        return Extracted.of_paths(paths)
    touching = np.isin(extracted.edges[:, [0, 2]], nodes).any(1)
    return Extracted((), extracted.edges[touching][:MOST_ABOUT])


class PathReader:
    """Answers questions from one graph, by any arm."""

    def __init__(
        self,
        paths: PathGraph,
        encode: Encode,
        writer: BlockingClient | None = None,
    ) -> None:
        """Take an open graph; `encode` gives vectors of length one, for choices without a model.

        The template `description` is written by `writer`, by rule without one.
        """
        self.paths, self._encode = paths, encode
        self._templates = Templates(paths.graph, writer)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms: walks of the policy, or shortest paths without one, and subgraphs (P_sub).

        There is one for each template.
        """
        first = "walks" if self.paths.policy is not None else "shortest_paths"
        return arm_names((first, "subgraph"), TEMPLATES)

    @property
    def usual_arm(self) -> str:
        """The arm that is used without a bandit."""
        return self.arms[TEMPLATES.index("sentences")]

    def extract(self, arm: str, questions: Sequence[GroundedQuestion]) -> list[Extracted]:
        """Return the parts of the graph that an arm extracts for questions."""
        return self.paths.extractions[arm.partition("+")[0]].extract(questions)

    def around(self, question: GroundedQuestion) -> Extracted:
        """Return the subgraph of a question (P_sub), which costs little whichever arm is taken."""
        return self.extract("subgraph", [question])[0]

    def phrase(self, arm: str, extracted: Extracted) -> Phrased:
        """Return the wording of an extracted part by the arm's template."""
        template: Template = next(name for name in TEMPLATES if name == arm.partition("+")[2])
        return self._templates.phrase(template, extracted, Limit(tokens=ROOM))

    def sentence(self, path: Path) -> str:
        """Return a path in words."""
        edges = np.array([(e.head, e.relation, e.tail) for e in path.edges], np.int32)
        whole = Extracted((path,), edges.reshape(-1, 3))
        return self._templates.phrase("sentences", whole, Limit()).text

    def likeness(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the cosines of texts with a question."""
        vectors = self._encode([question, *texts])
        likeness: list[float] = (vectors[1:] @ vectors[0]).tolist()
        return likeness

    def chances(
        self,
        arm: str | None,
        grounded: GroundedQuestion,
        choices: Sequence[str],
        extracted: Extracted,
    ) -> np.ndarray:
        """Return the probability of each choice, float64 (choices,); without an arm, by its words.

        What the policy knows of the question's meaning gets its share; the rest goes by similarity.
        Paths speak for a choice that names their end, not for one that is only similar to it.
        """
        texts, known = [""] * len(choices), np.zeros(len(choices))
        if arm is not None and choices:
            texts = [
                self.phrase(arm, _leading_to(extracted, nodes)).text if mentions else ""
                for nodes, mentions in zip(
                    grounded.targets, self.paths.grounder.mentions(choices), strict=True
                )
            ]
            if self.paths.walks is not None and arm.startswith("walks"):
                known = self.paths.walks.shares(grounded)
        scores = likeness_of(grounded.text, choices, texts, self._encode) / SPREAD
        alike = np.exp(scores - scores.max(initial=-np.inf))
        chances: np.ndarray = known + (1 - known.sum()) * alike / max(alike.sum(), 1e-9)
        return chances

    def supported(
        self, grounded: GroundedQuestion, choices: Sequence[str], extracted: Extracted
    ) -> np.ndarray:
        """Return whether something in the graph joins each choice to the question: bool.

        Question and choice must name nodes; nodes that are only similar prove nothing, nor does a
        word of a name that the graph does not have.
        """
        named = self.paths.grounder.mentions([grounded.text, *choices])
        if not named[0]:
            return np.zeros(len(choices), bool)
        ends = [path.nodes[-1] for path in extracted.paths]
        ends = ends or np.unique(extracted.edges[:, [0, 2]]).tolist()
        is_named = [
            any(run.whole for run in runs)
            or (len(runs) > 0 and not all(word[:1].isupper() for word in choice.split()))
            for choice, runs in zip(choices, named[1:], strict=True)
        ]
        is_end = [bool(np.isin(nodes, ends).any()) for nodes in grounded.targets]
        return np.array(is_named, bool) & np.array(is_end, bool)

    def answer(
        self,
        arm: str,
        question: Question,
        grounded: GroundedQuestion,
        choices: Sequence[str],
        conversation: Conversation | None,
        around: Extracted | None = None,
    ) -> tuple[str, float | None, Extracted]:
        """Return a question's answer, its probability, and the extracted part of the graph.

        The answer is a choice that a path supports, empty if there is none. A model's answer has no
        probability, nor has one without choices. `around` is the question's subgraph, if it is
        known.
        """
        if around is None or not arm.startswith("subgraph+"):
            [extracted] = self.extract(arm, [grounded])
        else:
            extracted = around
        words = self.phrase(arm, extracted).text
        known = [words] if words else []
        if conversation is not None:
            answer = phrased_answer(
                conversation, question, choices, known, self._encode, against_prior=True
            )
            return answer, None, extracted
        if not choices:
            return "", None, extracted
        chances = self.chances(arm, grounded, choices, extracted)
        chances[~self.supported(grounded, choices, extracted)] = 0
        best = int(chances.argmax())
        return (choices[best] if chances[best] else ""), float(chances[best]), extracted


def likeness_of(
    question: str, choices: Sequence[str], texts: Sequence[str], encode: Encode
) -> np.ndarray:
    """Return how similar each choice, with the text about it, is to the question: float64.

    `texts` has one text for each choice; an empty one adds nothing.
    """
    if not choices:
        return np.zeros(0)
    known = [text for text in texts if text]
    vectors = encode([question, *choices, *known])
    likeness = vectors[1:] @ vectors[0]
    scores: np.ndarray = likeness[: len(choices)].astype(float)
    described = [place for place, text in enumerate(texts) if text]
    scores[described] += WEIGHT * likeness[len(choices) :]
    return scores
