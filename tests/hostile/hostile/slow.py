"""Readers who take their time."""

import contextlib
import time

from .attack import attack
from .site import VIEW

_LIST = f"GET {VIEW}/api/v1/pods?resourceVersion=0 HTTP/1.1\r\nhost: x\r\n\r\n".encode()


@attack("slow readers", sizes={"short": 40, "long": 300},
        at_most={"growth MB": 300, "in flight": 8, "connections left": 5, "bystander failed": 0},
        at_most_long={"bystander slowest s": 5}, flags=("--request-timeout=5s", "--max-requests-inflight=10"))
def slow_readers(attacked, count):
    """So many readers ask for everything and read a kilobyte twice a second; ten requests may be in flight, for five seconds."""
    context, before = attacked.context("reader"), attacked.descriptors()
    with contextlib.ExitStack() as opened:
        readers = []
        for _ in range(count):
            reader = opened.enter_context(context.wrap_socket(attacked.tcp(room=4096)))
            reader.sendall(_LIST)
            readers.append(reader)
        in_flight, end = 0, time.monotonic() + 16
        while time.monotonic() < end and readers:
            in_flight = max(in_flight, _in_flight(attacked))
            readers = [reader for reader in readers if _take(reader)]
            time.sleep(0.5)
        return {"in flight": in_flight, "connections left": attacked.descriptors() - before}


def _take(reader):
    """Reads a little; returns whether more may come."""
    try:
        return bool(reader.recv(1024))
    except OSError:
        return False


def _in_flight(attacked):
    text = attacked.admin.request("GET", "/metrics")
    return max(float(line.split()[-1]) for line in text.splitlines()
               if line.startswith("apiserver_current_inflight_requests{"))
