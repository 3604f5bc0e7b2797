"""Starts under bad conditions: a stand-by with many objects that leads, and too few threads."""

import contextlib
import json
import os
import socket
import ssl
import time
import urllib.request

from rig.process import Process, wait_until

from .attack import attack
from .connections import allow_descriptors
from .lists import WORKS, list_of
from .plane import HONEST, LEASE

# A user whom nothing else runs as.
_USER = 64_531


def _suspended_works(count):
    """The JSON of Works that nobody has to do anything about."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
    rest = json.dumps({
        "spec": {"suspendDispatching": True, "workload": {"manifests": [manifest]}},
        "status": {"conditions": [{"type": "Dispatching", "status": "False", "reason": "SuspendDispatching",
                                   "message": "Work dispatching is in a suspended state.",
                                   "lastTransitionTime": "2025-01-01T00:00:00Z"}]}})[1:-1]
    for number in range(count):
        yield (f'{{"metadata":{{"name":"many-{number}","namespace":"karmada-es-{HONEST}","uid":"many-{number}",'
               f'"resourceVersion":"1","finalizers":["karmada.io/execution-controller"]}},{rest}}}')


@attack("a stand-by with many objects that leads", target="manager", is_started=False,
        sizes={"short": (30_000, 8), "long": (200_000, 2)}, at_most={"lost leases": 0}, at_most_long={"slowest renewal s": 2})
def many_prepared(attacked, size):
    """So many Works, and a lease that is lost when it is not renewed within so many seconds."""
    count, deadline = size
    kube, renewals, works = attacked.plane.kube(), [], list(_suspended_works(count))
    whole = kube.get(WORKS)
    works[:0], version = [json.dumps(item) for item in whole["items"]], whole["metadata"]["resourceVersion"]

    def rule(asked):
        if asked.path == LEASE and asked.method in ("PUT", "PATCH"):
            renewals.append(time.monotonic())
        if not asked.is_list or asked.resource != "works":
            return False
        begin = int(asked.query.get("continue", 0))
        end = min(begin + 500, len(works))
        asked.answer(list_of("Work", works[begin:end], version, str(end) if end < len(works) else ""))
        return True

    _write_lease(kube, holder="somebody-else")
    with attacked.control.ruled(rule):
        attacked.start([f"--leader-elect-renew-deadline={deadline}s", f"--leader-elect-lease-duration={deadline + 2}s",
                        "--leader-elect-retry-period=500ms"])
        for _ in range(max(count // 10_000, 5)):  # Long enough that it has read everything; it may not lead meanwhile.
            _write_lease(kube, holder="somebody-else")
            time.sleep(1)
        _write_lease(kube, holder="")
        wait_until("the lease taken", lambda: _holder(kube) not in ("", "somebody-else"), 60, every=0.05)
        renewals.clear()
        attacked.begin()  # Until it has brought an object to the other member.
        wait_until("further renewals", lambda: len(renewals) >= 4, 60)
        times = list(renewals)
    return {"objects": count, "lost leases": attacked.log().count("stopped leading"),
            "slowest renewal s": max(after - before for before, after in zip(times, times[1:]))}


def _holder(kube):
    return (kube.find(LEASE) or {"spec": {}})["spec"].get("holderIdentity", "")


def _write_lease(kube, holder):
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 4 if holder else 1, "acquireTime": now, "renewTime": now,
            "leaseTransitions": 0}
    folder, name = LEASE.rsplit("/", 1)
    if kube.find(LEASE) is not None:
        kube.merge(LEASE, {"spec": spec})
        return
    if kube.find("/api/v1/namespaces/karmada-system") is None:
        kube.create("/api/v1/namespaces", {"metadata": {"name": "karmada-system"}})
    kube.create(folder, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec})


@attack("too few threads", target="manager", is_started=False, has_process=False, sizes={"short": (4, 16), "long": (4, 8, 12, 16, 20, 24, 30, 40, 50)},
        at_most={"ended otherwise": 0})
def few_threads(attacked, limits):
    """Starts where the user may have so many threads, far fewer than it wants."""
    if os.geteuid() != 0:
        return {"skipped": "only root can start a program as another user, whom RLIMIT_NPROC binds"}
    attacked.plane.folder.chmod(0o755)
    attacked.plane.kubeconfig.chmod(0o644)
    outcomes = {limit: _outcome(attacked.plane, limit) for limit in limits}
    return {"outcomes": outcomes, "ended otherwise": sum(outcome not in ("ready", "named") for outcome in outcomes.values())}


def _outcome(plane, limit):
    """Starts it: "ready", "named" (it ended with 1 and a last line that names the limit), or what else came of it."""
    port, command = plane.program(before=["prlimit", f"--nproc={limit}", "setpriv", f"--reuid={_USER}", f"--regid={_USER}",
                                          "--clear-groups"])
    log = plane.log(f"controller-manager-{limit}-threads")
    log.unlink(missing_ok=True)
    process, end = Process("karmada-controller-manager", command, log), time.monotonic() + 60
    while process.alive() and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                process.stop(35)
                return "ready"
        except OSError:
            time.sleep(0.1)
    code, last = process.stop(35), process.tail(1)
    if code == 1 and "the system has no thread left" in last and f"{limit} for the user" in last:
        return "named"
    return f"{code}: {last[:300]}"


@attack("connections to its health server", target="manager", sizes={"short": 1600, "long": 1600},
        at_most={"growth MB": 40, "more open than may be": 40})
def health_connections(attacked, count):
    """So many connections to the server of health, where 500 may be open; half of them say nothing, the others have asked."""
    allow_descriptors()
    before = attacked.descriptors()
    with contextlib.ExitStack() as opened:
        for number in range(count):
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", attacked.port), timeout=30))
            if number % 2:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        time.sleep(2)
        return {"more open than may be": attacked.descriptors() - before - 500}


@attack("long reviews of customizations", target="manager", sizes={"short": 60, "long": 200},
        at_most={"growth MB": 130, "more open than may be": 12},
        flags=("--interpreter-admission-bind-address=127.0.0.1:{port}", "--interpreter-admission-tls-cert-file={crt}",
               "--interpreter-admission-tls-private-key-file={key}"))
def long_reviews(attacked, count):
    """So many requests of 6 MiB to the server of admission that lack their last byte, and one of 20 MiB; 16 may be open."""
    context, before = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), attacked.descriptors()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.ExitStack() as opened:
        for size in [6 << 20] * count + [20 << 20]:
            raw = socket.create_connection(("127.0.0.1", attacked.plane.named["port"]), timeout=30)
            connection = opened.enter_context(context.wrap_socket(raw))
            head = f"POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {size}\r\n\r\n"
            with contextlib.suppress(OSError):
                connection.sendall(head.encode() + b" " * (size - 1))
        return {"held MB": attacked.process.rss_bytes() / 1e6, "more open than may be": attacked.descriptors() - before - 16}
