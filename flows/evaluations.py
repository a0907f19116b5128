"""The jobs that measure answers and gates."""

from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from flows.jobs import FORMAT, QUESTIONS, Job, Runner
from flows.summary import figures_as_markdown
from warehouse.disk_errors import warned_of_refusals

NOT_DRAWN = "the picture was not drawn."
GATE_FIGURES = (
    "area_over_random",
    "share_of_perfect",
    "rate_at_99",
    "accuracy_at_half_of_always",
    "auroc_help",
)


class Evaluation(Job):
    """A job that measures something and returns the figures."""

    questions: str = QUESTIONS
    limit: int | None = Field(None, ge=1, description="Questions to draw, in a seeded shuffle.")

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the figures of all systems."""
        return figures_as_markdown(result)


class EvaluateAnswers(Evaluation):
    """Measure answers on a benchmark, in comparison with simple baselines."""

    flow_name = "evaluate-answers"
    outcome = "What was measured"

    format: str = FORMAT
    route: str = Field("auto", description="The route to measure: auto, programs, text or experts.")
    expert: str | None = Field(None, description="Measure this expert alone.")
    graph: str | None = Field(None, description="Ask all questions of this graph.")
    learn: bool = Field(True, description="Learn on the training part, or on a seeded half.")
    zero_shot: bool = Field(False, description="Measure before learning, too.")
    baselines: list[str] | None = Field(
        None,
        description="bm25, embedding, spe (the default); with a model also model, recitation, "
        "generated_knowledge, generate_then_read and retrieve_then_read.",
    )
    out: str | None = Field(None, description="A file for every answer and its figures.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure and return the figures."""
        from tasks.evaluate.baselines.choose import BASELINES
        from tasks.evaluate.evaluate import Measurement, evaluate
        from tasks.evaluate.systems import system_for

        settings = self.chosen_settings
        measurement = Measurement(
            graph=self.graph,
            limit=self.limit,
            learn=self.learn,
            zero_shot=self.zero_shot,
            baselines=list(BASELINES) if self.baselines is None else self.baselines,
            answers=Path(self.out) if self.out else None,
        )
        system = system_for(
            self.route, settings, self.place, learned=not self.learn, expert=self.expert
        )
        questions = Path(self.questions)
        return evaluate(
            self.place,
            questions,
            self.format,
            system,
            settings,
            measurement,
            runner.report,
            runner.warn,
        )


class EvaluateGates(Evaluation):
    """Measure gates on questions with known outcomes: whether knowledge helped."""

    flow_name = "evaluate-gates"
    outcome = "What was measured"

    format: str = FORMAT
    gates: list[str] = Field(description="Names of gates, or all; the first is the system.")
    encoder: str = Field("minilm", description="The encoder of the questions.")
    layer: int = Field(-1, description="The layer of hidden states; the last by default.")
    pooling: str = Field("mean", description="How hidden states are pooled.")
    variant: str | None = Field(None, description="The variant of Thrust; by default the full one.")
    clusters: int | None = Field(None, ge=1, description="Clusters per class, for Thrust.")
    seeds: int = Field(200, ge=1, description="Questions to calibrate with, per data set.")
    draws: int = Field(10, ge=1, description="How often the seeds are drawn.")
    choices: bool = Field(False, description="Encode the choices with the question.")
    popularity_of: str | None = Field(
        None, description="The graph from which the gate `popularity` counts subjects."
    )
    ablations: bool = Field(False, description="Measure every variant of Thrust instead.")
    picture: str | None = Field(None, description="Draw the curves as .svg or .png.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Measure, draw, and return the figures."""
        from tasks.evaluate.gates.evaluate import GateMeasurement, evaluate_gates
        from tasks.evaluate.gates.scored import Draws
        from tasks.evaluate.pictures import check_picture, draw_curves
        from tasks.models.encoders import EncoderChoice, open_question_encoder

        if self.picture:
            check_picture(Path(self.picture))
        options = {"variant": self.variant, "clusters": self.clusters}
        measurement = GateMeasurement(
            gates=self.gates,
            draws=Draws(self.seeds, self.draws),
            limit=self.limit,
            options={name: value for name, value in options.items() if value is not None},
            choices=self.choices,
            popularity_of=self.popularity_of,
            study="ablations" if self.ablations else "gates",
        )
        choice = EncoderChoice(self.encoder, self.layer, self.pooling)  # type: ignore[arg-type]
        encoder = partial(open_question_encoder, choice, self.chosen_settings.engine, self.place)
        questions = Path(self.questions)
        results = evaluate_gates(
            self.place, questions, self.format, encoder, measurement, runner.report, runner.warn
        )
        if self.picture:
            report, models = results.report, results.outcomes.models
            with warned_of_refusals(Path(self.picture), NOT_DRAWN, runner.warn):
                draw_curves(
                    Path(self.picture), report["dataset"], models, results.curves, results.perfect
                )
        return results.report

    def as_markdown(self, result: dict[str, Any]) -> str:
        """Return the figures that compare gates."""
        return figures_as_markdown(result, GATE_FIGURES)
