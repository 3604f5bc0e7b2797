"""One user who takes all that there is, or several together."""

import contextlib
import json
import threading
import time

from rig.process import wait_until

from . import deaf
from .attack import attack
from .bodies import patch_request, send
from .connections import allow_descriptors
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
def held(attacked, user, request, count, at_once=True):
    """Opens so many connections, sends the request over each, and holds them. `at_once`: when all are open."""
    context = attacked.context(user)
    with contextlib.ExitStack() as opened:
        connections = []
        for _ in range(count):
            connections.append(opened.enter_context(attacked.connect(context=context)))
            if not at_once:
                connections.pop().sendall(request)
        for connection in connections:
            connection.sendall(request)
        yield


def _others(attacked, request, times=5, name="others refused"):
    """Sends the request as somebody else; returns how often it was refused because of too many, and the codes."""
    codes = [send(attacked, request) for _ in range(times)]
    return {name: sum(code in (0, 429) for code in codes), "codes of others": sorted(set(codes))}


@attack("all bodies by one user", sizes={"short": 34, "long": 100},
        at_most={"growth MB": 100, "bystander failed": 0, "others refused": 0})
def all_bodies(attacked, count):
    """So many writes of one user announce three megabytes and do not send them; somebody else sends one."""
    head = patch_request(_POD, "application/merge-patch+json", 3 << 20)
    with held(attacked, another_user(attacked), head, count):
        time.sleep(0.5)
        return _others(attacked, patch_request(_POD, "application/merge-patch+json", _LONG))


@attack("slow bodies of many users", sizes={"short": 34, "long": 60},
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


@attack("all requests by one user", sizes={"short": 60, "long": 300},
        at_most={"growth MB": 60, "bystander failed": 0, "others refused": 0},
        flags=("--max-mutating-requests-inflight=20",))
def all_requests(attacked, count):
    """So many short writes of one user to a member that does not answer, where 20 may be in flight; somebody else writes to
    another one."""
    request = patch_request(_POD.replace(PROXY, deaf.PROXY), "application/merge-patch+json", b"{}")
    with deaf.deaf_member(attacked), held(attacked, another_user(attacked), request, count):
        time.sleep(0.5)
        return _others(attacked, patch_request(_POD + "?cluster=member1", "application/merge-patch+json", b"{}"))


@attack("all requests by many users", sizes={"short": 10, "long": 40},
        at_most={"growth MB": 60, "bystander failed": 0, "without Retry-After": 0, "refused afterwards": 0},
        flags=("--max-mutating-requests-inflight=20",))
def all_requests_together(attacked, count):
    """So many short writes of each of eight users to a member that does not answer, where 20 may be in flight: they take all.
    Somebody else is told when to come again, and gets in when they have gone."""
    request = patch_request(_POD.replace(PROXY, deaf.PROXY), "application/merge-patch+json", b"{}")
    mine = patch_request(_POD + "?cluster=member1", "application/merge-patch+json", b"{}")
    with deaf.deaf_member(attacked):
        with contextlib.ExitStack() as opened:
            for number in range(8):
                opened.enter_context(held(attacked, another_user(attacked, f"greedy-{number}"), request, count))
            time.sleep(0.5)
            answers = [attacked.answer(mine) for _ in range(5)]
        refused = [head for code, head in answers if code == 429]
        wait_until("a write of somebody else", lambda: send(attacked, mine) != 429, 10)
        return {"refused while they go on": len(refused), **_others(attacked, mine, name="refused afterwards"),
                "without Retry-After": sum(b"Retry-After: 1" not in head for head in refused)}


@attack("all reads by one user", sizes={"short": 1600, "long": 3100}, flags=("--max-requests-inflight=0",),
        at_most={"growth MB": 150, "bystander failed": 0, "others refused": 0}, at_most_long={"bystander slowest s": 5})
def all_reads(attacked, count):
    """So many lists at once of one user, where any number may be in flight, 16 are worked at and 1,000 wait; somebody else reads."""
    allow_descriptors()
    path = f"{PROXY}/api/v1/pods?resourceVersion=0&labelSelector=none=such"
    request = f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode()
    with held(attacked, another_user(attacked), request, count):
        return _others(attacked, f"GET {path}&limit=1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())


@attack("reads that wait for a member", sizes={"short": 1000, "long": 1000}, flags=("--max-requests-inflight=0",),
        at_most={"growth MB": 100, "threads": 130, "bystander failed": 0, "others refused": 0})
def waiting_reads(attacked, count):
    """So many reads of one user of what a member has now, which does not answer, where 64 are worked at and 256 wait; somebody
    else reads the same."""
    allow_descriptors()
    request = f"GET {PROXY}/api/v1/namespaces/none/pods HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()
    with deaf.deaf_member(attacked) as member:
        member.silent.set()
        with held(attacked, another_user(attacked), request, count):
            return _others(attacked, request)


@attack("sessions that do not end", sizes={"short": 750, "long": 750}, flags=("--max-connections=300",),
        at_most={"growth MB": 60, "bystander failed": 0, "others refused": 0})
def endless_sessions(attacked, count):
    """So many sessions of one user with a member that does not answer, where 240 may be open; somebody else begins five
    watches."""
    path = f"{deaf.PROXY}/api/v1/namespaces/team-7/pods/web/proxy/x"
    request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode()
    watch = (f"GET {PROXY}/api/v1/namespaces/none/pods?watch=true&resourceVersion=0&timeoutSeconds=1 HTTP/1.1\r\nhost: x\r\n"
             "connection: close\r\n\r\n").encode()
    with deaf.deaf_member(attacked), held(attacked, another_user(attacked), request, count, at_once=False):
        time.sleep(0.5)
        return _others(attacked, watch)


@attack("all sorted lists by one user", sizes={"short": 320, "long": 400},
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
    return _untaken(attacked, another_user(attacked), count)


def _untaken(attacked, user, count):
    path = f"{deaf.PROXY}/api/v1/namespaces/team-7/pods/web/proxy/x"
    request = patch_request(path, "application/octet-stream", b"x" * (3 << 20), method="POST")
    with deaf.deaf_member(attacked), contextlib.ExitStack() as opened:
        for _ in range(count):
            connection = opened.enter_context(attacked.connect(user))
            with contextlib.suppress(OSError):
                connection.sendall(request)
        time.sleep(1)
        return {"held MB": attacked.process.rss_bytes() / 1e6}


@attack("bodies of an administrator that nobody takes", sizes={"short": 40, "long": 100},
        at_most={"growth MB": 140, "bystander failed": 0})
def untaken_bodies_of_masters(attacked, count):
    """The same by a member of system:masters, who may have as much again as all others."""
    return _untaken(attacked, "admin", count)
