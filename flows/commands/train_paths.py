"""`almanac train-paths`: learns to find paths in a graph, and how to phrase them."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.jobs import FORMAT, MODEL, QUESTIONS, PublishingJob, Runner, finer, option
from flows.terminal import Picture, Shown, Table
from tasks.paths.bandit.linucb import Rule
from tasks.paths.policy.plan import PolicyPlan


class TrainPaths(PublishingJob):
    """Learn from questions which paths of a graph matter, and how to phrase them."""

    flow_name = "train-paths"
    outcome = "What the training did"
    shortcuts = MODEL

    questions: str = QUESTIONS
    graph: str = option("NAME", "The graph that the questions are about.")
    format: str = FORMAT
    limit: int | None = option("N", "Train on N of the questions (all).", None, ge=1)
    encoder: str = finer(
        "What makes vectors: minilm, static, or a sentence encoder; by default chosen "
        "by the graph's size.",
        "",
    )
    plan: PolicyPlan = finer("How the policy is trained.", PolicyPlan())
    arms: int = finer(
        "Questions that teach how to phrase paths (a fifth at most), not the policy.", 200, ge=0
    )
    rule: Rule = finer(
        "How the bandit chooses: sampling, or the paper's confidence bound, perhaps "
        "with nonnegative weights (bound, nonnegative); all with a floor of .05.",
        "sampling",
    )
    per_token: float = finer("What a token takes from a reward of 1.", 0.0, ge=0)
    per_second: float = finer("What a second takes from a reward of 1.", 0.0, ge=0)

    def work(self, runner: Runner) -> dict[str, Any]:
        """Train and return the run, with the policy and what the bandit learned."""
        from tasks.learn import learn_arms, questions_to_walk
        from tasks.questions.formats import read_benchmark
        from tasks.questions.splits import sample
        from tasks.train_paths import train_paths, training_questions

        settings = self.chosen_settings
        known = training_questions(read_benchmark(Path(self.questions), self.format))
        questions = sample(known, self.limit)
        walked, arms = questions_to_walk(questions, settings, self.arms)
        run, policy = train_paths(
            self.place,
            walked,
            settings,
            graph=self.graph,
            encoder=self.encoder,
            plan=self.plan,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        bandit = None
        if arms:
            bandit = learn_arms(
                self.place,
                questions,
                settings,
                graph=self.graph,
                count=arms,
                rule=self.rule,
                per_token=self.per_token,
                per_second=self.per_second,
                report=runner.report,
            )
        return {**asdict(run), "policy": policy, "bandit": bandit}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the policy, its reward curve, the arms, and the run."""
        yield from policy_in_words(result["policy"])
        yield Picture(f"Policy {self.graph}", self.place.path / result["policy"]["picture"])
        if result["bandit"] is not None:
            yield from arms_in_words(result["bandit"])
        yield from super().shown(result)


def policy_in_words(policy: Mapping[str, Any]) -> Iterator[Shown]:
    """Yield what is known of a policy."""
    yield Table(["policy", ""], [[name.replace("_", " "), v] for name, v in policy.items()])


def arms_in_words(bandit: Mapping[str, Any]) -> Iterator[Shown]:
    """Yield how often a bandit chose each arm, and how often it was right, or why it did not."""
    if "skipped" in bandit:
        yield bandit["skipped"]
        return
    rows = [[arm, counts["pulls"], counts["right"]] for arm, counts in bandit["arms"].items()]
    yield Table([f"arm, read by {bandit['model']}", "chosen", "right"], rows)


COMMAND = TrainPaths
