"""Options by an earlier name are understood, with a line that says how they are written now.

Most are finer options, `--set` and that name; the others are listed here.
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
