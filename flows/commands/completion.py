"""`almanac completion`: prints the script with which a shell completes commands and options."""

from collections.abc import Iterator
from typing import Literal

from flows.jobs import Command, Runner, operand
from flows.terminal import Shown


class Completion(Command):
    """Print the completion script of a shell: eval "$(almanac completion bash)"."""

    shell: Literal["bash", "zsh", "tcsh"] = operand(None, "The shell.")

    def work(self, runner: Runner) -> str:
        """Return the script for the chosen shell."""
        import shtab

        from flows.__main__ import build_parser

        script = str(shtab.complete(build_parser(whole=True), self.shell))
        return script.replace("-o bashdefault -F", "-o bashdefault -o default -F")  # names of files

    def shown(self, result: str) -> Iterator[Shown]:
        """Yield the script."""
        yield result


COMMAND = Completion
