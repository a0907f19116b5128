"""The job that learns to find paths in a graph, and how to phrase them."""

from base64 import b64encode
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import Field

from flows.jobs import FORMAT, QUESTIONS, Run, Runner
from flows.summary import table_as_markdown
from tasks.paths.bandit.linucb import Rule
from tasks.paths.policy.train import PolicyPlan


class TrainPaths(Run):
    """Train a policy to walk a graph, then a bandit to phrase what it finds (KnowGPT)."""

    flow_name = "train-paths"
    outcome = "What the training did"

    questions: str = QUESTIONS
    graph: str = Field(description="The graph that the questions are about.")
    format: str = FORMAT
    limit: int | None = Field(None, ge=1, description="Train on so many of the questions.")
    encoder: str = Field("", description="minilm, static, or a sentence encoder; by size.")
    plan: PolicyPlan = Field(PolicyPlan(), description="How the policy is trained.")
    arms: int = Field(200, ge=0, description="Questions that the bandit learns from.")
    rule: Rule = Field("sampling", description="How the bandit chooses: sampling, or the paper's.")
    per_token: float = Field(0.0, ge=0, description="What a token takes from a reward of 1.")
    per_second: float = Field(0.0, ge=0, description="What a second takes from a reward of 1.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Train and return the run, with the policy and what the bandit learned."""
        from tasks.learn_arms import learn_arms
        from tasks.questions.formats import read_benchmark
        from tasks.train_paths import train_paths, training_questions

        settings = self.chosen_settings
        questions = training_questions(read_benchmark(Path(self.questions), self.format))
        run, policy = train_paths(
            self.place,
            questions,
            settings,
            graph=self.graph,
            limit=self.limit,
            encoder=self.encoder,
            plan=self.plan,
            wait_seconds=self.wait_seconds,
            report=runner.report,
            run_stage=runner.run_stage,
        )
        bandit = None
        if self.arms:
            bandit = learn_arms(
                self.place,
                questions,
                settings,
                graph=self.graph,
                count=self.arms,
                rule=self.rule,
                per_token=self.per_token,
                per_second=self.per_second,
                report=runner.report,
            )
        return {**asdict(run), "policy": policy, "bandit": bandit}

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the run, the policy, its reward curve, and the arms."""
        policy = result["policy"]
        picture = b64encode((self.place.path / policy["picture"]).read_bytes()).decode()
        return "\n".join(
            [
                super().as_markdown(result),
                table_as_markdown(list(policy), [list(policy.values())]),
                f"![Policy {self.graph}](data:image/png;base64,{picture})",
                *arms_as_markdown(result["bandit"]),
            ]
        )


def arms_as_markdown(bandit: dict[str, Any] | None) -> list[str]:
    """Return a table of a bandit's arms, or why there is none; nothing without a bandit."""
    if bandit is None:
        return []
    if "skipped" in bandit:
        return [bandit["skipped"]]
    rows = [[arm, counts["pulls"], counts["right"]] for arm, counts in bandit["arms"].items()]
    return [table_as_markdown(["arm", "chosen", "right"], rows)]
