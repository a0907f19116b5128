"""Options that were replaced: for one release they are understood, with a line that says by what.

A writing that ends in `=` takes the value of the option. Studies are commands of a checkout now.
"""

from collections.abc import Sequence

from flows import terminal

WAIT = {"--wait": "--set publish.wait_seconds="}
NO_VECTORS = {"--no-vectors": "--set engine.encoder=none"}
MODEL = {
    "--base-url": "--set engine.model.base_url=",
    "--concurrency": "--set engine.model.concurrency=",
    "--budget": "--set engine.model.budget=",
}
CHOSEN_MODEL = {
    "--engine": "--set engine.engine=",
    "--model": "--set engine.model.name=",
}
ASKING = MODEL | {
    "--edition": "--set edition=",
    "--mode": "--set experts.mode=",
    "--min-score": "--set min_score=",
    "--task": "--set gate.use=true --set gate.task=",
    "--gate-budget": "--set gate.use=true --set gate.budget=",
    "--no-gate": "--set gate.use=false",
}
THRUST = {
    "--encoder": "--set encoder=",
    "--layer": "--set layer=",
    "--pooling": "--set pooling=",
    "--variant": "--set variant=",
    "--clusters": "--set clusters=",
    "--popularity-of": "--set popularity_of=",
    "--seeds": "--set seeds=",
}
GATES = (
    MODEL
    | CHOSEN_MODEL
    | THRUST
    | {
        "--draws": "--set draws=",
        "--choices": "--set choices=true",
        "--ablations": "--set ablations=true",
    }
)
RETIRED: dict[str, dict[str, str]] = {
    "refresh": WAIT
    | NO_VECTORS
    | {
        "--base-url": MODEL["--base-url"],
        "--speaker": "--set engine.speaker=",
        "--audience": "--set engine.audience=",
    },
    "cost": MODEL,
    "ask": ASKING,
    "answer": ASKING,
    "evaluate": MODEL
    | {
        "--mode": "--set experts.mode=",
        "--expert": "--set expert=",
        "--zero-shot": "--set zero_shot=true",
        "--baselines": "--set baselines=",
    },
    "gates measure": GATES,
    "remember": WAIT,
    "ontology suggest": {"--most": "--set most=", "--edition": "--set edition="},
    "ontology check": {"--edition": "--set edition="},
    "audit": {"--seed": "--set seed="},
    "import-graph": WAIT | NO_VECTORS,
    "verbalize": WAIT
    | MODEL
    | {
        "--seed": "--set seed=",
        "--evidence": "--set evidence=",
        "--walks": "--set walks=",
        "--wordings": "--set wordings=",
        "--held-out": "--set held_out=",
    },
    "train-experts": WAIT
    | {
        "--epochs": "--set epochs=",
        "--seed": "--set seed=",
        "--learning-rate": "--set learning_rate=",
        "--patience": "--set patience=",
        "--all-texts": "--set all_texts=true",
        "--description": "--set description=",
        "--parent": "--set parent=",
        "--licence": "--set licence=",
    },
    "train-paths": WAIT
    | MODEL
    | {
        "--encoder": "--set encoder=",
        "--steps": "--set steps=",
        "--epochs": "--set epochs=",
        "--cloning-epochs": "--set cloning_epochs=",
        "--seed": "--set seed=",
        "--reach": "--set reach=",
        "--relatedness": "--set relatedness=",
        "--conciseness": "--set conciseness=",
        "--ridge": "--set ridge=",
        "--arms": "--set arms=",
        "--rule": "--set rule=",
        "--per-token": "--set per_token=",
        "--per-second": "--set per_second=",
    },
    "calibrate-gate": MODEL
    | CHOSEN_MODEL
    | THRUST
    | {"--draw": "--set draw=", "--outcomes-of": "--set outcomes_of="},
    "mock-endpoint": {
        "--fault-share": "--set fault_share=",
        "--seed": "--set seed=",
        "--plain": "--set plain=true",
        "--json-only": "--set json_only=true",
        "--batch-seconds": "--set batch_seconds=",
    },
}
STUDIES = {  # options that `evaluate` had, and the module of a checkout that has them now
    "--study": "experts_study",
    "--datasets": "experts_study",
    "--knowledge": "knowledge_gain",
    "--models": "knowledge_gain",
    "--proxy": "knowledge_gain",
    "--arms": "arms_study",
    "--training": "arms_study",
}


def rewritten(command: str, words: Sequence[str]) -> list[str]:
    """Return a command's words with replaced options as they are written now; say so for each."""
    table, new = RETIRED.get(command, {}), list[str]()
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            return [*new, word, *waiting]
        option, equals, value = word.partition("=")
        writing = table.get(option)
        if writing is None:
            new.append(word)
            continue
        if writing.endswith("=") and not equals:
            value = next(waiting, "")
        if writing.endswith("="):
            writing += value
        terminal.say(f"{option} is going: write {writing} instead.")
        new += writing.split(" ", 3) if writing.count("--set") > 1 else writing.split(" ", 1)
    return new


def moved(words: Sequence[str]) -> list[str]:
    """Return a call in which `evaluate --gate` is the command that it means: `gates measure`."""
    options = {word.partition("=")[0] for word in words}
    if "--gate" not in options or "evaluate" not in words:
        return list(words)
    place = words.index("evaluate")
    return [*words[:place], "gates", "measure", *words[place + 1 :]]


def study_of(option: str) -> str | None:
    """Return what replaces an option of a study that `evaluate` once ran; None for others."""
    if option not in STUDIES:
        return None
    return (
        f"in a checkout of the repository, write `python -m benchmarks.{STUDIES[option]} QUESTIONS "
        "--format NAME --home DIR`"
    )
