"""Writers on several machines publish editions to one object store, through faults.

Each writer is a process with a cache of its own. In turn it takes the lease, appends a commit, and
publishes an edition made from the current one. A share of all requests fails: 503, a reply that is
lost, a connection that ends within the body. Then a new machine reads what the store holds.
"""

import multiprocessing
import os
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.command import parser_of, report
from schemas.errors import StoreError
from schemas.observations import Scan
from tests.object_server import Bucket, object_server
from tests.test_stored_home import publish
from warehouse import object_store, stored_home
from warehouse.home import Home
from warehouse.lease import lease
from warehouse.stored_home import working_folder

ADDRESS = "s3://bucket/home"
PATIENCE = 600.0  # seconds that a writer waits for the others
SHORT = 0.05  # how long waits are beside those elsewhere, as this store is on the same machine
Made = tuple[str, str | None, int]  # id of an edition, its parent's, number of its commit


def write(folder: Path, writer: int, editions: int, made: "multiprocessing.Queue[Any]") -> None:
    """Publish editions as one writer, and send what was made, with the runs that were repeated."""
    os.environ["ALMANAC_CACHE"] = str(folder / f"machine-{writer}")
    object_store.FIRST_WAIT *= SHORT
    stored_home.POLL_SECONDS *= SHORT
    home, repeated = Home(working_folder(ADDRESS)), 0
    results: list[Made] = []
    while len(results) < editions:
        try:
            results.append(_publish_one(home, f"{writer}-{len(results)}"))
        except StoreError:
            repeated += 1
    made.put((results, repeated))


def _publish_one(home: Home, name: str) -> Made:
    with lease(home.path, f"writer {name}", PATIENCE):
        home.journal.clean()
        known = home.journal.table(Scan)["scan_id"].to_pylist() if home.journal.position else []
        if name not in known:  # by a run that ended after it
            home.journal.append({Scan: Scan.to_table([_scan(name)])})
        number = home.journal.table(Scan)["scan_id"].to_pylist().index(name) + 1
        edition = publish(home.editions, name)
        home.editions.prune(keep=3, days=0)
        return edition.id, edition.manifest["parent"], number


def _scan(name: str) -> dict[str, Any]:
    return {
        "scan_id": name,
        "run_id": name,
        "source": "s",
        "complete": True,
        "items": 1,
        "scanned_at": datetime.now(UTC),
    }


def measure(folder: Path, bucket: Bucket, writers: int, editions: int, share: float) -> dict:
    """Let the writers work, and compare what they made with what the store holds."""
    bucket.fault_share = share
    processes = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[Any] = processes.Queue()
    started = time.monotonic()
    children = [
        processes.Process(target=write, args=(folder, writer, editions, queue))
        for writer in range(writers)
    ]
    for child in children:
        child.start()
    gathered = [queue.get(timeout=3600) for _ in children]
    for child in children:
        child.join()
    seconds, bucket.fault_share = time.monotonic() - started, 0.0
    made = [one for results, _ in gathered for one in results]
    os.environ["ALMANAC_CACHE"] = str(folder / "reader")
    reader = Home(working_folder(ADDRESS))
    names = Counter(reader.journal.table(Scan)["scan_id"].to_pylist())
    published = reader.editions.pointer()["published"]
    current = reader.editions.current()
    parents = {identity: parent for identity, parent, _ in made}
    return {
        "writers": writers,
        "editions": len(published),
        "share_of_faults": share,
        "requests": len(bucket.requests),
        "runs_repeated": sum(repeated for _, repeated in gathered),
        "editions_lost": len(parents.keys() - set(published)),
        "editions_with_two_children": sum(n > 1 for n in Counter(parents.values()).values()),
        "commits_lost": writers * editions - len(names),
        "commits_doubled": sum(n > 1 for n in names.values()),
        "damaged_files": len(current.damaged()) if current else 1,
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Measure with the number of writers and editions that are given."""
    arguments = parser_of(__doc__, writers=4, editions=50, faults=0.1).parse_args()
    with tempfile.TemporaryDirectory() as folder, object_server() as (endpoint, bucket):
        os.environ["AWS_ENDPOINT_URL"] = endpoint
        os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "of-this-benchmark"
        figures = measure(
            Path(folder), bucket, arguments.writers, arguments.editions, arguments.faults
        )
    report("stored-home", figures)


if __name__ == "__main__":
    main()
