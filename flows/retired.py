"""Options that were replaced are understood for one release, with a line that says by what.

Most of them are finer options now, `--set` and their old name; the others are listed here.
"""

from collections.abc import Callable, Sequence

from flows import terminal

RENAMED = {  # options that are settings now, or finer options with another name
    "--audience": ("engine.audience=",),
    "--base-url": ("engine.model.base_url=",),
    "--budget": ("engine.model.budget=",),
    "--concurrency": ("engine.model.concurrency=",),
    "--engine": ("engine.engine=",),
    "--gate-budget": ("gate.use=true", "gate.budget="),
    "--mode": ("experts.mode=",),
    "--model": ("engine.model.name=",),
    "--no-gate": ("gate.use=false",),
    "--no-vectors": ("engine.encoder=none",),
    "--speaker": ("engine.speaker=",),
    "--task": ("gate.use=true", "gate.task="),
    "--wait": ("publish.wait_seconds=",),
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


def rewritten(words: Sequence[str], writings: Callable[[str], Sequence[str]]) -> list[str]:
    """Return a command's words with replaced options as they are written now; say so for each.

    `writings` returns what to `--set` instead of an option; a writing that ends in `=` takes its
    value.
    """
    new, waiting = list[str](), iter(words)
    for word in waiting:
        if word == "--":
            return [*new, word, *waiting]
        option, equals, value = word.partition("=")
        sets = list(writings(option)) if option.startswith("--") else []
        if not sets:
            new.append(word)
            continue
        if sets[-1].endswith("="):
            sets[-1] += value if equals else next(waiting, "")
        new_writing = " ".join(f"--set {writing}" for writing in sets)
        terminal.say(f"{option} is going: write {new_writing} instead.")
        new += [part for writing in sets for part in ("--set", writing)]
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
