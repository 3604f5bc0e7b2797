"""Watches, as many as somebody likes."""

import base64
import contextlib
import os
import time
import urllib.parse

from rig.sandbox_search import REGISTRIES

from .attack import attack
from .bodies import send
from .connections import allow_descriptors
from .shares import another_user
from .site import MB, PROXY

_WATCH = "GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"
_PODS = PROXY + "/api/v1/pods?watch=true&allowWatchBookmarks=true"
_INITIAL = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


def _open(attacked, opened, user, path, count, room=None):
    """Opens so many watches that nobody reads from; returns their connections. `room`: what the system may take for a client."""
    context, connections = attacked.context(user), []
    for _ in range(count):
        raw = attacked.tcp(room=room)
        connection = opened.enter_context(context.wrap_socket(raw))
        with contextlib.suppress(OSError):
            connection.sendall(_WATCH.format(path=path).encode())
        connections.append(connection)
    return connections


def _answers(connections):
    """The beginnings of the answers: of those that have been closed, for want of room, there are none."""
    heads = []
    for connection in connections:
        connection.settimeout(10)
        with contextlib.suppress(OSError):
            heads.append(connection.recv(4096))
    return [head for head in heads if head]


def _change(attacked, number):
    """Changes fifty pods of each member, by 4 kB that nothing else has."""
    for member in ("member1", "member2"):
        kube, path = attacked.member(member), f"/api/v1/namespaces/team-{number % 50}/pods"
        for item in kube.request("GET", path + "?limit=50")["items"]:
            kube.merge(f"{path}/{item['metadata']['name']}", {"metadata": {"annotations": {"round": base64.b64encode(os.urandom(3_000)).decode()}}})


def _is_cut(connection):
    """Whether the server has closed the connection; takes what has come."""
    connection.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        try:
            while connection.recv(1 << 16):
                pass
            return True
        except OSError as error:
            return not isinstance(error, TimeoutError)
    return False


def _first_line(attacked):
    """The status of a watch by somebody else."""
    with attacked.connect() as connection:
        connection.sendall(_WATCH.format(path=_PODS + "&limit=1&resourceVersion=0").encode())
        return int(connection.recv(64).split(b" ", 2)[1])


@attack("idle watches", sizes={"short": 1200, "long": 2600},
        at_most={"kB each": 60, "bystander failed": 0, "another watch refused": 0, "watches of others cut": 0,
                 "more open than may be": 0},
        flags=("--max-connections=1000",))
def idle_watches(attacked, count):
    """So many watches of one user, of a namespace where nothing happens, where 1,000 connections and 800 watches may be open, 400
    of one user; somebody else has one, and opens another one."""
    allow_descriptors()
    with contextlib.ExitStack() as opened:
        path = PROXY + "/api/v1/namespaces/nothing/pods?watch=true&resourceVersion="
        first = _open(attacked, opened, "reader", path, 1)[0]
        before = attacked.process.rss_bytes()
        connections = _open(attacked, opened, another_user(attacked), path, count)
        attacked.wait_quiet()
        held = attacked.process.rss_bytes() - before
        refused = int(_first_line(attacked) != 200)
        cut = int(_is_cut(first))
        begun = sum(head.startswith(b"HTTP/1.1 200") for head in _answers(connections))
        return {"begun": begun, "kB each": held / min(count, 1000) / 1e3, "another watch refused": refused,
                "watches of others cut": cut, "more open than may be": max(begun - 400, 0)}


@attack("references to many objects", sizes={"long": 220},
        at_most={"growth MB": 700, "threads": 130, "bystander failed": 0, "others refused": 0, "without Retry-After": 0})
def many_references(attacked, count):
    """So many watches of everything of each of six users, from the beginning, of clients that read nothing: they would refer to
    three times as many objects as may be. Somebody else lists everything in pages."""
    allow_descriptors()
    with contextlib.ExitStack() as opened:
        connections = []
        for number in range(6):
            connections += _open(attacked, opened, another_user(attacked, f"greedy-{number}"), _PODS + _INITIAL, count, room=4096)
        page = f"GET {PROXY}/api/v1/pods?limit=500&resourceVersion=0 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()
        codes = [send(attacked, page) for _ in range(5)]
        refused = [head for head in _answers(connections) if head.startswith(b"HTTP/1.1 429")]
        return {"would refer to MB": len(connections) * attacked.total * 16 / 1e6, "refused": len(refused),
                "others refused": sum(code != 200 for code in codes),
                "without Retry-After": sum(b"Retry-After: " not in head for head in refused)}


@attack("watches of which much is left untaken", sizes={"long": 3100}, at_most={"growth MB": 500, "bystander failed": 0},
        at_most_long={"afterwards MB": 500})
def untaken_watches(attacked, count):
    """So many watches from now on by clients that read nothing, while so much happens that a megabyte would wait for each."""
    allow_descriptors()
    with contextlib.ExitStack() as opened:
        _open(attacked, opened, another_user(attacked), _PODS + "&resourceVersion=" + _version(attacked), count, room=4096)
        for number in range(4):
            _change(attacked, number)
        held = attacked.process.rss_bytes() / MB
    attacked.wait_quiet()
    return {"held MB": held, "afterwards MB": attacked.process.rss_bytes() / MB}


def _version(attacked):
    """The version that the caches have."""
    return attacked.admin.request("GET", PROXY + "/api/v1/pods?limit=1")["metadata"]["resourceVersion"]


@attack("watches of registries that nobody reads", sizes={"long": 800}, at_most={"growth MB": 150, "bystander failed": 0})
def unread_registries(attacked, count):
    """A watch of registries by a client that reads nothing, while one is changed so many times, by 250 kB each time."""
    with contextlib.ExitStack() as opened:
        _open(attacked, opened, "reader", REGISTRIES + "?watch=true", 1, room=4096)
        for number in range(count):
            attacked.admin.merge(f"{REGISTRIES}/pods", {"metadata": {"annotations": {"long": f"{number:5}" * 50_000}}})
        attacked.admin.merge(f"{REGISTRIES}/pods", {"metadata": {"annotations": {"long": None}}})
        return {"sent MB": count * 250_000 / MB}


@attack("more changes than are remembered", sizes={"short": 30, "long": 30},
        at_most={"growth MB": 60, "bystander failed": 0, "old pages": 0}, flags=("--watch-history-mebibytes=1",))
def many_changes(attacked, rounds):
    """So many changes of each of fifty pods in each member, by 4 kB, where a mebibyte of former states is remembered; then the
    second page of a list from before is asked for."""
    token = attacked.admin.request("GET", PROXY + "/api/v1/pods?limit=100")["metadata"]["continue"]
    for _ in range(rounds):
        _change(attacked, 10)
    attacked.wait_quiet()
    path = f"{PROXY}/api/v1/pods?limit=100&continue={urllib.parse.quote(token)}"
    code = send(attacked, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    return {"its code": code, "old pages": int(code != 410)}


@attack("watches that nobody reads", sizes={"short": 60, "long": 600},
        at_most={"growth MB": 200, "bystander failed": 0})
def unread_watches(attacked, count):
    """So many watches of everything, from the beginning and from now on, of clients that stop reading while objects change."""
    allow_descriptors()
    user = another_user(attacked)
    with contextlib.ExitStack() as opened:
        _open(attacked, opened, user, _PODS + _INITIAL, count // 2)
        _open(attacked, opened, user, _PODS + "&resourceVersion=0", count - count // 2)
        rounds = 3 if count < 100 else 20
        for number in range(rounds):
            _change(attacked, number)
        held = attacked.process.rss_bytes() / MB
        time.sleep(1)
        return {"held MB": held, "events": rounds * 100}


@attack("watches with a long selector", sizes={"short": 150, "long": 1000}, at_most={"growth MB": 20, "bystander failed": 0},
        at_most_long={"growth MB": 80}, flags=("--max-connections=1000",))
def selecting_watches(attacked, count):
    """So many watches with a selector of 30 kB, where 1,000 connections may be open."""
    allow_descriptors()
    values = ",".join(f"value-{n:04d}" for n in range(2900))
    path = f"{PROXY}/api/v1/pods?watch=true&resourceVersion=0&labelSelector=app+in+({values})"
    with contextlib.ExitStack() as opened:
        before = attacked.process.rss_bytes()
        _open(attacked, opened, another_user(attacked), path, count)
        attacked.wait_quiet()
        return {"kB each": (attacked.process.rss_bytes() - before) / count / 1e3}
