"""`almanac calibrate-gate`: learns when a question of a task needs outside knowledge."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.jobs import FORMAT, QUESTIONS, Configured, PublishingJob, Runner, finer, option
from flows.terminal import Shown, Table

if TYPE_CHECKING:
    from tasks.models.encoders.choice import EncoderChoice


class EncodedQuestions(Configured):
    """What gates see of questions, and how Thrust counts, to calibrate or to measure gates."""

    encoder: str = finer(
        "minilm, hidden:FOLDER-OR-HUB-NAME, endpoint:MODEL or a sentence-transformers name.",
        "minilm",
    )
    layer: int = finer("The layer of hidden states; the last by default.", -1)
    pooling: str = finer(
        "How hidden states are pooled: mean, last, decoder_start_with_encoder or "
        "first_token_official.",
        "mean",
    )
    variant: str | None = finer(
        "The variant of Thrust: full (the default), no_size, no_direction, no_distance, cosine or "
        "inertia.",
        None,
    )
    clusters: int | None = finer(
        "Thrust's clusters per class; by default ⌈seeds^¼⌉, at least 3.", None, ge=1
    )
    popularity_of: str | None = finer(
        "The graph from which the gate `popularity` counts subjects.", None
    )

    @property
    def calls_model(self) -> bool:
        """Whether an endpoint makes the vectors."""
        return self.encoder.startswith("endpoint:")

    @property
    def encoder_choice(self) -> "EncoderChoice":
        """What makes the vectors."""
        from tasks.models.encoders.choice import EncoderChoice

        return EncoderChoice(self.encoder, self.layer, self.pooling)  # type: ignore[arg-type]

    def options(self, *names: str) -> dict[str, Any]:
        """Return those of these fields that are given, as options of gates."""
        return {n: getattr(self, n) for n in names if getattr(self, n) is not None}


class CalibrateGate(EncodedQuestions, PublishingJob):
    """Learn from a task's questions when outside knowledge is needed."""

    flow_name = "calibrate-gate"
    outcome = "What the calibration did"

    questions: str = QUESTIONS
    task: str = option(
        "NAME",
        "The task's name, whose gate is replaced; picks one where the file has several tasks.",
    )
    format: str = FORMAT
    gate: str = option(
        "NAME", "The gate: thrust, popularity, entropy, own_answer, learned …", "thrust"
    )
    seeds: int = finer("Questions drawn from the file.", 200, ge=1)
    draw: int = finer("The random seed that draws them.", 42)
    outcomes_of: str | None = finer(
        "The model whose outcomes are used, if the file has several.", None
    )

    def work(self, runner: Runner) -> dict[str, Any]:
        """Calibrate and return the run, with the gate and its thresholds."""
        from tasks.calibrate_gate import Seeding, calibrate_gate
        from tasks.gates.calibrate import GateChoice

        options = self.options("variant", "clusters", "popularity_of")
        run, gate = calibrate_gate(
            self.place,
            Path(self.questions),
            self.chosen_settings,
            task=self.task,
            format=self.format,
            choice=GateChoice(self.gate, options, self.encoder_choice),
            seeding=Seeding(self.seeds, self.draw, self.outcomes_of),
            report=runner.report,
            run_stage=runner.run_stage,
        )
        return {**asdict(run), "gate": gate}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield the gate with its thresholds, and the run."""
        gate = {**result["gate"]}
        thresholds = {name: f"{v:.4g}" for name, v in gate.pop("thresholds").items()}
        yield Table([*gate, *thresholds], [[*gate.values(), *thresholds.values()]])
        yield from super().shown(result)


COMMAND = CalibrateGate
