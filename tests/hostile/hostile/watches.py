"""Watches, as many as somebody likes."""

import contextlib
import time

from .attack import attack
from .connections import allow_descriptors
from .shares import another_user
from .site import MB, PROXY

_WATCH = "GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"
_PODS = PROXY + "/api/v1/pods?watch=true&allowWatchBookmarks=true"
_INITIAL = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


def _open(attacked, opened, user, path, count):
    """Opens so many watches that nobody reads from; returns their connections."""
    context, connections = attacked.context(user), []
    for _ in range(count):
        connection = opened.enter_context(attacked.connect(context=context))
        connection.sendall(_WATCH.format(path=path).encode())
        connections.append(connection)
    return connections


def _change(attacked, number):
    """Changes a hundred pods of each member."""
    for member in ("member1", "member2"):
        kube, path = attacked.member(member), f"/api/v1/namespaces/team-{number % 50}/pods"
        for item in kube.request("GET", path + "?limit=50")["items"]:
            kube.merge(f"{path}/{item['metadata']['name']}", {"metadata": {"annotations": {"round": str(number) * 2000}}})


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


@attack("idle watches", sizes={"short": 300, "long": 4500},
        at_most={"kB each": 60, "bystander failed": 0, "another watch refused": 0, "watches of others cut": 0},
        flags=("--max-connections=5000",))
def idle_watches(attacked, count):
    """So many watches of one user, of a namespace where nothing happens, where 5,000 connections may be open; somebody else
    has one, and opens another one."""
    allow_descriptors()
    with contextlib.ExitStack() as opened:
        path = PROXY + "/api/v1/namespaces/nothing/pods?watch=true&resourceVersion="
        first = _open(attacked, opened, "reader", path, 1)[0]
        before = attacked.process.rss_bytes()
        _open(attacked, opened, another_user(attacked), path, count)
        attacked.wait_quiet()
        held = (attacked.process.rss_bytes() - before) / count
        return {"kB each": held / 1e3, "another watch refused": int(_first_line(attacked) != 200),
                "watches of others cut": int(_is_cut(first))}


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


@attack("watches with a long selector", sizes={"short": 100, "long": 1000}, at_most={"growth MB": 15, "bystander failed": 0},
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
