"""One user who takes all that there is."""

import contextlib
import json
import threading
import time

from . import deaf
from .attack import attack
from .bodies import patch_request, send
from .site import PROXY, VIEW

_POD = PROXY + "/api/v1/namespaces/team-7/pods/web-7d4b9c6f5d-7"
# Somebody else's body, which is refused as too long an object once it has been read.
_LONG = json.dumps({"metadata": {"annotations": {"long": "x" * 2_500_000}}}).encode()


def another_user(attacked, name="greedy"):
    """The name of a certificate of a reader who is not the one that others use."""
    pki = attacked.pki
    if not pki.crt(name).exists():
        pki.certificate(name, name, group="readers")
    return name


@contextlib.contextmanager
def held(attacked, user, request, count):
    """Sends the request over so many connections, and holds them."""
    context = attacked.context(user)
    with contextlib.ExitStack() as opened:
        for _ in range(count):
            connection = opened.enter_context(attacked.connect(context=context))
            connection.sendall(request)
        yield


def _others(attacked, request, times=5):
    """Sends the request as somebody else; returns how often it was refused because of too many, and the codes."""
    codes = [send(attacked, request) for _ in range(times)]
    return {"others refused": sum(code in (0, 429) for code in codes), "codes of others": sorted(set(codes))}


@attack("all bodies by one user", sizes={"short": 30, "long": 100},
        at_most={"growth MB": 100, "bystander failed": 0, "others refused": 0})
def all_bodies(attacked, count):
    """So many writes of one user announce three megabytes and do not send them; somebody else sends one."""
    head = patch_request(_POD, "application/merge-patch+json", 3 << 20)
    with held(attacked, another_user(attacked), head, count):
        time.sleep(0.5)
        return _others(attacked, patch_request(_POD, "application/merge-patch+json", _LONG))


@attack("slow bodies of many users", sizes={"short": 30, "long": 60},
        at_most={"growth MB": 100, "bystander failed": 0, "others refused": 0})
def slow_bodies(attacked, count):
    """So many writes of eight users announce three megabytes and send a byte each half second; somebody else sends one."""
    stop, head = threading.Event(), patch_request(_POD, "application/merge-patch+json", 3 << 20)
    opened = []
    for number in range(count):
        connection = attacked.connect(context=attacked.context(another_user(attacked, f"greedy-{number % 8}")))
        connection.sendall(head)
        opened.append(connection)

    def drip():
        while not stop.wait(0.5):
            for connection in opened:
                with contextlib.suppress(OSError):
                    connection.sendall(b" ")
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        time.sleep(3)
        return _others(attacked, patch_request(_POD, "application/merge-patch+json", _LONG))
    finally:
        stop.set()
        thread.join()
        for connection in opened:
            connection.close()


@attack("all requests by one user", sizes={"short": 40, "long": 300},
        at_most={"growth MB": 60, "bystander failed": 0, "others refused": 0},
        flags=("--max-mutating-requests-inflight=20",))
def all_requests(attacked, count):
    """So many short writes of one user to a member that does not answer, where 20 may be in flight; somebody else writes to
    another one."""
    request = patch_request(_POD.replace(PROXY, deaf.PROXY), "application/merge-patch+json", b"{}")
    with deaf.deaf_member(attacked), held(attacked, another_user(attacked), request, count):
        time.sleep(0.5)
        return _others(attacked, patch_request(_POD + "?cluster=member1", "application/merge-patch+json", b"{}"))


@attack("all sorted lists by one user", sizes={"short": 200, "long": 400},
        at_most={"growth MB": 100, "bystander failed": 0, "others refused": 0}, at_most_long={"slowest s": 5})
def all_sorts(attacked, count):
    """So many sorted lists of one user at once, who waits for them; somebody else asks for one."""
    request = (f"GET {VIEW}/api/v1/pods?resourceVersion=0&sort=-metadata.creationTimestamp,..image,..name&limit=20 HTTP/1.1\r\n"
               "host: x\r\nconnection: close\r\n\r\n").encode()
    with held(attacked, another_user(attacked), request, count):
        began = time.monotonic()
        return {**_others(attacked, request, 3), "slowest s": (time.monotonic() - began) / 3}


@attack("bodies that nobody takes", sizes={"short": 40, "long": 100}, at_most={"growth MB": 70, "bystander failed": 0})
def untaken_bodies(attacked, count):
    """So many bodies of three megabytes go to a member that does not read them, as requests without a deadline."""
    path = f"{deaf.PROXY}/api/v1/namespaces/team-7/pods/web/proxy/x"
    request = patch_request(path, "application/octet-stream", b"x" * (3 << 20), method="POST")
    user = another_user(attacked)
    with deaf.deaf_member(attacked), contextlib.ExitStack() as opened:
        for _ in range(count):
            connection = opened.enter_context(attacked.connect(user))
            with contextlib.suppress(OSError):
                connection.sendall(request)
        time.sleep(1)
        return {"held MB": attacked.process.rss_bytes() / 1e6}
