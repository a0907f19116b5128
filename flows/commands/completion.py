"""`almanac completion`: prints the script with which a shell completes commands and options."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from flows.jobs import Command, Runner
from flows.parsing import Option
from flows.terminal import Shown


class Completion(Command):
    """Print the completion script of a shell: eval "$(almanac completion bash)"."""

    shell: Annotated[Literal["bash", "zsh", "tcsh"], Option(operand=True)] = Field(
        description="The shell."
    )

    def work(self, runner: Runner) -> str:
        """Return the script for the chosen shell."""
        import shtab

        from flows.__main__ import build_parser

        return str(shtab.complete(build_parser(whole=True), self.shell))

    def shown(self, result: str) -> Iterator[Shown]:
        """Yield the script."""
        yield result


COMMAND = Completion
