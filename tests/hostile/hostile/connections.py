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


@attack("more connections than there may be", sizes={"short": 1000, "long": 3200}, flags=("--max-connections=300",),
        at_most={"growth MB": 40, "more open than may be": 30, "bystander failed": 0}, at_most_long={"bystander slowest s": 5})
def too_many_connections(attacked, count):
    """So many TLS connections that have asked whether it is ready and ask nothing more, where 300 may be open."""
    context, before, most = attacked.context(), attacked.descriptors(), 0
    allow_descriptors()
    with contextlib.ExitStack() as opened:
        for number in range(count):
            connection = opened.enter_context(attacked.connect(context=context))
            connection.sendall(b"GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n")
            if number % 50 == 0:
                most = max(most, attacked.descriptors() - before)
        most = max(most, attacked.descriptors() - before)
    return {"more open than may be": most - 300}


@attack("heads that are longer than may be", sizes={"short": 60, "long": 300},
        at_most={"growth MB": 40, "other answers": 0, "bystander failed": 0})
def long_heads(attacked, count):
    """So many requests whose URL or headers have 100 kB, by somebody who shows no certificate."""
    heads = (b"GET /readyz?x=" + b"x" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
             b"GET /readyz HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * 100_000 + b"\r\n\r\n",
             b"GET /readyz HTTP/1.1\r\nhost: x\r\n" + b"".join(b"h%d: %s\r\n" % (n, b"x" * 90) for n in range(1000)) + b"\r\n")
    codes = [_code(attacked, heads[number % len(heads)]) for number in range(count)]
    return {"answers by code": {code: codes.count(code) for code in sorted(set(codes))},
            "other answers": sum(code not in (431, 0) for code in codes)}


def _code(attacked, request):
    """The status; 0 if the connection was cut while the request was being sent."""
    try:
        return attacked.answer(request, user=None)[0]
    except (OSError, IndexError, ValueError):
        return 0


@attack("heads that do not end", sizes={"short": 1700, "long": 3000}, at_most={"growth MB": 60, "bystander failed": 0},
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
