"""Questions for the control plane, as many as somebody likes."""

import contextlib
import json
import threading
import time

from .attack import attack
from .connections import allow_descriptors
from .site import PROXY

_REVIEWS = ("--authentication-kubeconfig={relayed}", "--authorization-kubeconfig={relayed}",
            "--authentication-token-webhook-cache-ttl=1s", "--authorization-webhook-cache-authorized-ttl=1s")
_TOKEN = "good"
_POD = f"{PROXY}/api/v1/namespaces/team-7/pods/web-7d4b9c6f5d-7?resourceVersion=0"


def _get(path, token=None):
    fields = f"authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nhost: x\r\n{fields}\r\n".encode()


def _slow_reviews(seconds=0.05):
    """A control plane that takes so long for each token that it does not know, 50 ms for other reviews, and knows one token."""
    user = {"username": "holder", "groups": ["readers"]}

    def rule(asked):
        if asked.resource not in ("tokenreviews", "subjectaccessreviews"):
            return False
        review = json.loads(asked.body())
        is_good = review["spec"].get("token", _TOKEN) == _TOKEN
        time.sleep(0.05 if is_good else seconds)
        if asked.resource == "tokenreviews":
            review["status"] = {"authenticated": True, "user": user} if is_good else {"authenticated": False}
        else:
            review["status"] = {"allowed": review["spec"].get("user") != "system:anonymous"}
        asked.answer(review, 201)
        return True
    return rule


class _Holder:
    """Somebody whose token counts, and who goes on reading. Use as a context manager."""

    def __init__(self, attacked):
        self._attacked, self._stop, self._codes, self._seconds = attacked, threading.Event(), [], []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._ask()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.wait(0.2):
            self._ask()

    def _ask(self):
        began = time.monotonic()
        request = _get(_POD, _TOKEN).replace(b"host: x", b"host: x\r\nconnection: close")
        try:
            self._codes.append(self._attacked.answer(request, user=None)[0])
        except (OSError, IndexError, ValueError):
            self._codes.append(0)
        self._seconds.append(time.monotonic() - began)

    def figures(self):
        return {"holder asked": len(self._codes), "holder refused": sum(code not in (200, 404) for code in self._codes),
                "holder slowest s": max(self._seconds), "codes of the holder": sorted(set(self._codes))}


def _flood(attacked, count, rounds, request):
    """Sends requests over so many connections at once, in rounds; `request` makes each from a number. Returns the heads of the
    answers."""
    allow_descriptors()
    heads, context, numbers = [], attacked.context(), iter(range(count * rounds))
    with contextlib.ExitStack() as opened:
        connections = [opened.enter_context(attacked.connect(context=context, timeout=60)) for _ in range(count)]
        for _ in range(rounds):
            for connection in connections:
                connection.sendall(request(next(numbers)))
            for connection in connections:
                with contextlib.suppress(OSError):
                    heads.append(connection.recv(1 << 14))
    return heads


def _codes(heads):
    codes = [int(head.split(b" ", 2)[1]) for head in heads if head]
    refused = [head for head in heads if head.startswith(b"HTTP/1.1 429")]
    return {"answers by code": {code: codes.count(code) for code in sorted(set(codes))},
            "without Retry-After": sum(b"Retry-After: 1" not in head for head in refused)}


@attack("tokens that mean nothing", sizes={"short": (800, 1), "long": (1600, 10)}, flags=_REVIEWS,
        at_most={"growth MB": 60, "bystander failed": 0, "holder refused": 0, "without Retry-After": 0},
        at_most_long={"holder slowest s": 3, "bystander slowest s": 5})
def bad_tokens(attacked, size):
    """So many connections that send a token at once which nobody has sent before, so many times; somebody whose token counts reads
    meanwhile."""
    with attacked.control.ruled(_slow_reviews()), _Holder(attacked) as holder:
        heads = _flood(attacked, *size, lambda number: _get("/version", f"bad-{number}"))
    return {**_codes(heads), **holder.figures()}


@attack("long tokens that mean nothing", sizes={"short": (420, 1), "long": (1600, 3)}, flags=_REVIEWS,
        at_most={"growth MB": 130, "bystander failed": 0, "holder refused": 0, "without Retry-After": 0})
def long_tokens(attacked, size):
    """So many connections that send one token of 30 kB at once, so many times: they wait for one review, which takes 5 s."""
    with attacked.control.ruled(_slow_reviews(5)), _Holder(attacked) as holder:
        heads = _flood(attacked, *size, lambda number: _get("/version", f"{number // size[0]}" + "x" * 30_000))
    return {**_codes(heads), **holder.figures()}


@attack("rights that nobody has asked for", sizes={"short": (1600, 1), "long": (1600, 10)},
        flags=(*_REVIEWS, "--max-requests-inflight=0"),
        at_most={"growth MB": 60, "bystander failed": 0, "holder refused": 0, "without Retry-After": 0},
        at_most_long={"holder slowest s": 3, "bystander slowest s": 5})
def anonymous_paths(attacked, size):
    """So many connections without credentials that ask for a path at once which nobody has asked for before, so many times."""
    with attacked.control.ruled(_slow_reviews()), _Holder(attacked) as holder:
        heads = _flood(attacked, *size, lambda number: _get(f"/openapi/{number}"))
    return {**_codes(heads), **holder.figures()}
