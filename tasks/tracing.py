"""Spans of time of runs and questions, told to other tools by OpenTelemetry where it is configured.

Its own environment variables configure it, such as OTEL_EXPORTER_OTLP_ENDPOINT; without one, no
library of it is imported. Texts, questions and answers are no part of a span.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from os import environ
from typing import Any

PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[Any]:
    """Time the body as a span, which is yielded for more attributes; None where none is wanted."""
    if not _configured():
        yield None
        return
    from opentelemetry import trace

    with trace.get_tracer("almanac").start_as_current_span(name, attributes=attributes) as timed:
        yield timed


@cache
def _configured() -> bool:
    """Whether spans go anywhere; opens the way unless a program that embeds this has done so."""
    exporter = environ.get("OTEL_TRACES_EXPORTER", "otlp")
    wanted = any(name.startswith("OTEL_") for name in environ)
    if not wanted or exporter == "none" or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:  # the variables are of another program
        return False
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider()  # its resource is read from OTEL_SERVICE_NAME
        for made in _exporters(exporter):
            provider.add_span_processor(BatchSpanProcessor(made))
        trace.set_tracer_provider(provider)
    return True


def _exporters(names: str) -> Iterator[Any]:
    from importlib.metadata import entry_points

    for name in names.split(","):
        protocol = environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        registered = PROTOCOLS.get(protocol, protocol) if name == "otlp" else name.strip()
        for point in entry_points(group="opentelemetry_traces_exporter", name=registered):
            yield point.load()()
