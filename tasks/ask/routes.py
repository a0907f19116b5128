"""The routes by name, each imported when it is opened: most questions need one or two."""

from typing import TYPE_CHECKING, get_args

from tasks.ask.route import AnswerRoute, Resources, RouteName

if TYPE_CHECKING:
    from tasks.ask.expert_tools import ExpertTools

# The routes that `--route` may name, besides `auto`.
ROUTES: tuple[RouteName, ...] = get_args(RouteName)
# The order in which `auto` tries routes; a gate may put the model first, and experts come last
# where the settings use them.
AUTO: tuple[RouteName, ...] = ("programs", "text")


def open_route(
    name: RouteName, resources: Resources, expert_tools: "ExpertTools | None" = None
) -> AnswerRoute:
    """Return the route; experts' tools over the same edition may be given, to be shared."""
    match name:
        case "programs":
            from tasks.ask.programs_route import ProgramsRoute

            return ProgramsRoute(resources)
        case "paths":
            from tasks.ask.paths_route import PathsRoute

            return PathsRoute(resources)
        case "text":
            from tasks.ask.text_route import TextRoute

            return TextRoute(resources)
        case "experts":
            from tasks.ask.experts_route import ExpertsRoute

            return ExpertsRoute(resources, expert_tools)
        case "none":
            from tasks.ask.model_route import ModelRoute

            return ModelRoute(resources)
