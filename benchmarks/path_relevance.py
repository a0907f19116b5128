"""How relevant and how long the policy's paths are, beside shortest paths and those of P_sub.

    python -m benchmarks.path_relevance QUESTIONS --home HOME [--part test] [--limit 300]

HOME has the graph conceptnet with a policy of `almanac train-paths QUESTIONS --format commonsenseqa
--graph conceptnet --limit 800 --arms 0`, which saw training questions only. `--part training` takes
training questions that it did not see, to choose options by; the figures are of the part `test`.

A pair is one source of a question and one candidate, whichever candidate is right. For each pair
the best path of the policy's walks is compared with the best one of the strategy of shortest paths,
and with all simple paths of up to three steps within the question's P_sub, as their mean: a prompt
shows P_sub as a whole and prefers none of them. Relatedness is equation 3 of KnowGPT (arXiv
2312.06185), the mean of the cosines of a path's beginnings with the question; length is the number
of steps. Only pairs count for which both have a path. `prompts` compares what is in the end shown:
each edge within the tokens that a prompt has room for, as a path of one step.

Differences are paired; their intervals (95 %) are over resampled questions.
"""

from pathlib import Path as File

import torch

from benchmarks.command import parser_of, report, run_command
from schemas.errors import UsageError
from tasks.paths.path_graph import open_path_graph
from tasks.questions.formats import read_benchmark
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import sample, split
from tests.path_measures import measure
from warehouse.home import Home

GRAPH = "conceptnet"
TRAINED = 800  # questions that the policy was trained on or measured by


def questions_of(file: File, part: str, limit: int | None) -> list[BenchmarkQuestion]:
    """Return questions of a part; of the training part those that the policy did not see."""
    training, test = split(read_benchmark(file, "commonsenseqa"), learn=False)
    if part == "test":
        return sample(test, limit or len(test))
    others = sample([question for question in training if question.answers], len(training))
    return others[TRAINED:][:limit]


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("questions", type=File, metavar="QUESTIONS", help="CommonsenseQA's folder")
    parser.add_argument("--home", type=File, required=True, help="with conceptnet and its policy")
    parser.add_argument("--part", choices=("test", "training"), default="test")
    parser.add_argument("--limit", type=int, help="take so many questions (all)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    home = Home(arguments.home)
    edition = home.editions.current()
    if edition is None:
        raise UsageError(f"There is no edition in {home.path}.")
    some = questions_of(arguments.questions, arguments.part, arguments.limit)
    with edition.pinned() as pinned:
        paths = open_path_graph(home, pinned, GRAPH)
        if paths.policy is None:
            raise UsageError(f"There is no policy for {GRAPH} in {home.path}.")
        grounded = paths.grounder.ground([q.question for q in some], [q.choices for q in some])
        figures = measure(paths, grounded)
    report("path-relevance", figures)


if __name__ == "__main__":
    run_command(main)
