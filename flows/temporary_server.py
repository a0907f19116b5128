"""A Prefect server that lives as long as the process that started it.

`python -m flows.temporary_server PORT` serves until standard input ends, which the operating
system brings about however the parent ends.
"""

import os
import signal
import sys
import threading
import time

import uvicorn

GRACE_SECONDS = 5


def main(port: int) -> None:
    """Serve Prefect's API on the loopback interface."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    uvicorn.run(
        "prefect.server.api.server:create_app",
        factory=True,
        host="127.0.0.1",
        port=port,
        log_level="error",
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS - 2,
    )


def _end_with_input() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
