"""Opens the encoder that a choice names."""

from schemas.errors import UsageError
from schemas.extras import E5_SMALL
from schemas.settings import EngineSettings
from tasks.models.encoders.choice import ENDPOINT, HIDDEN, EncoderChoice
from tasks.models.encoders.e5 import E5
from tasks.models.encoders.load import Encoder, load_encoder
from warehouse.home import Home


def open_question_encoder(
    choice: EncoderChoice, settings: EngineSettings, home: Home | None = None, run_id: str = ""
) -> Encoder:
    """Return the encoder of a choice; raise UsageError if it is not available.

    An endpoint is the one under [engine.model], with the choice's model; its calls are recorded in
    the home's `model_calls`.
    """
    if choice.name.startswith(HIDDEN):
        from tasks.models.encoders.hidden_states import HiddenStates

        name = choice.name.removeprefix(HIDDEN)
        model = settings.model
        return HiddenStates(name, choice.layer, choice.pooling, model.device, model.local_batch)
    if choice.name.startswith(ENDPOINT):
        from tasks.models.encoders.endpoint_encoder import EndpointEncoder

        if home is None:
            raise UsageError("An endpoint's calls are noted in a home, and none is given.")
        name = choice.name.removeprefix(ENDPOINT)
        return EndpointEncoder(name, settings.model, home, run_id)
    if choice.name == E5_SMALL:
        return E5("query")
    encoder = load_encoder(choice.name)
    assert encoder is not None  # a choice is never `none`
    return encoder
