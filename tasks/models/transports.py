"""Opens the transport that the settings name, and the client in front of it."""

from schemas.errors import UsageError
from schemas.operations import ModelCall
from schemas.settings import EngineSettings
from tasks.models.call import Outcome, Transport
from tasks.models.client import ModelClient
from tasks.models.dialect import FORMS
from tasks.models.endpoint import Endpoint, host_of
from warehouse.home import Home

BATCH_WIDTH = 5_000  # requests that may wait for one batch


def open_client(home: Home, settings: EngineSettings, run_id: str) -> ModelClient:
    """Return the client to the model that the settings name, for one run.

    Sends nothing; raises UsageError for a missing or invalid model, address, key or price.
    """
    require_model(settings)
    model = settings.model
    if model.batch or settings.engine == "transformers":
        model = model.model_copy(update={"concurrency": width(settings)})
    return ModelClient(
        open_transport(home, settings, run_id), model, home.ledger, run_id, batch=model.batch
    )


def endpoint_of(settings: EngineSettings) -> str | None:
    """Return host and port of the endpoint that the settings name; None for a local model."""
    return None if settings.engine == "transformers" else host_of(settings.model)


def require_model(settings: EngineSettings) -> None:
    """Raise UsageError unless the settings name a model."""
    if not settings.model.name:
        raise UsageError(
            f"The engine {settings.engine} needs a model: give --model, or name under "
            "[engine.model] in settings.toml."
        )


def width(settings: EngineSettings) -> int:
    """Return the number of requests to process concurrently.

    It is twice the number of calls in flight: when a reply arrives, the next call is sent at once,
    while the reply is processed.
    """
    if settings.engine == "transformers":
        return 2 * settings.model.local_batch
    return BATCH_WIDTH if settings.model.batch else 2 * settings.model.concurrency


def finish(client: ModelClient) -> None:
    """Mark the client's batches as done: all replies and their results are on disk."""
    from tasks.models.batches import BatchTransport

    if isinstance(client.transport, BatchTransport):
        client.transport.finish()


def open_transport(home: Home, settings: EngineSettings, run_id: str) -> Transport:
    """Return the transport to the endpoint or the local model that the settings name."""
    if settings.engine == "transformers":
        from tasks.models.local_model import LocalModel

        return LocalModel(settings.model)
    endpoint = Endpoint(settings.model)
    endpoint.dialect.start_with(_form_that_worked(home, endpoint.endpoint, settings.model.name))
    if not settings.model.batch:
        return endpoint
    from tasks.models.batches import BatchTransport

    return BatchTransport(endpoint, settings.model, home.live, run_id)


def _form_that_worked(home: Home, endpoint: str | None, model: str) -> str | None:
    """Return how JSON was requested for the last good reply of this endpoint, if there is one."""
    import pyarrow.compute as pc

    good = (
        (pc.field("endpoint") == endpoint)
        & (pc.field("model") == model)
        & (pc.field("outcome") == str(Outcome.OK))
        & pc.field("reply_form").isin(FORMS)  # calls for plain replies have none
    )
    for part in reversed(home.live.parts(ModelCall)[-3:]):
        calls = home.live.part_table(ModelCall, part).filter(good)
        if len(calls):
            return str(calls["reply_form"].to_pylist()[-1])
    return None
