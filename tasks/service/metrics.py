"""What Prometheus reads: requests, questions and the edition that is served."""

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from schemas.answers import Answer

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class Metrics:
    """The figures of one service, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "almanac_request_seconds",
            "Seconds from request to response.",
            ("path", "method", "status"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._answers = Counter(
            "almanac_answers", "Questions by route.", ("route",), registry=self._registry
        )
        self._edition = Gauge(
            "almanac_edition", "Number of the edition served.", ("home",), registry=self._registry
        )

    def request(self, path: str, method: str, status: int, seconds: float) -> None:
        """Count a request, by the pattern of its path."""
        known = method if method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS") else "other"
        self._requests.labels(path, known, status).observe(seconds)

    def answer(self, answer: "Answer") -> None:
        """Count an answer."""
        self._answers.labels(answer.route).inc()

    def text(self, editions: dict[str, int]) -> bytes:
        """Return all figures as Prometheus reads them, with the number of each home's edition."""
        for home, number in editions.items():
            self._edition.labels(home).set(number)
        return generate_latest(self._registry)
