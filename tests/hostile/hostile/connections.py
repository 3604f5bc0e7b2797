"""Connections by people who show no credentials."""

import contextlib
import resource
import select
import time

from .attack import attack
from .site import MB


def allow_descriptors():
    """Lets this process have as many open connections as it may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _grow(attacked, open_one, count):
    """Opens so many connections, holds them for two seconds and closes them; returns what that took."""
    allow_descriptors()
    before, began = attacked.process.rss_bytes(), time.monotonic()
    with contextlib.ExitStack() as opened:
        connections = [opened.enter_context(open_one(number)) for number in range(count)]
        seconds = time.monotonic() - began
        time.sleep(2)
        held = attacked.process.rss_bytes() - before
        readable = set(select_all(connections))
    attacked.wait_quiet()
    return {"opened in s": seconds, "held MB": held / MB, "kB each": held / count / 1e3, "closed by the server": len(readable),
            "left MB": (attacked.process.rss_bytes() - before) / MB}


def select_all(connections):
    poller = select.poll()
    for connection in connections:
        poller.register(connection, select.POLLIN)
    return [descriptor for descriptor, _ in poller.poll(0)]


@attack("bare connections", sizes={"short": 2000, "long": 9500},
        at_most={"growth MB": 60, "bystander failed": 0}, at_most_long={"bystander slowest s": 3})
def bare_connections(attacked, count):
    """So many TCP connections that say nothing."""
    return _grow(attacked, lambda _: attacked.tcp(), count)


@attack("unfinished handshakes", sizes={"short": 2000, "long": 9500},
        at_most={"growth MB": 120, "bystander failed": 0}, at_most_long={"bystander slowest s": 3})
def unfinished_handshakes(attacked, count):
    """So many connections that send the first bytes of a handshake, and no more."""
    def begin(_):
        connection = attacked.tcp()
        with contextlib.suppress(OSError):
            connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        return connection
    return _grow(attacked, begin, count)


@attack("silent handshakes", sizes={"short": 300, "long": 3000},
        at_most={"kB each": 45, "bystander failed": 0}, at_most_long={"bystander slowest s": 5})
def silent_handshakes(attacked, count):
    """So many TLS connections that show no certificate, complete their handshake, and ask nothing."""
    context = attacked.context()
    return _grow(attacked, lambda _: attacked.connect(context=context), count)


@attack("heads that do not end", sizes={"short": 1000, "long": 3000}, at_most={"growth MB": 45, "bystander failed": 0},
        at_most_long={"growth MB": 80})
def endless_heads(attacked, count):
    """So many TLS connections without a certificate that send 30 kB of a head, and no more."""
    context, head = attacked.context(), b"GET / HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * 30_000

    def begin(_):
        connection = attacked.connect(context=context)
        with contextlib.suppress(OSError):
            connection.sendall(head)
        return connection
    return _grow(attacked, begin, count)
