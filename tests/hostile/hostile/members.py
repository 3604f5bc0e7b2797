"""A member that sends more than it may."""

import itertools
import json
import time

from .attack import attack
from .plane import BAIT, HOSTILE, wait

_MIB = 1 << 20


def _event(name, field, kind="ConfigMap"):
    """The line of an event whose object has one more field, given as JSON."""
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": "999999999",
                "labels": {"karmada.io/managed": "true"}}
    return (f'{{"type":"ADDED","object":{{"apiVersion":"v1","kind":"{kind}","metadata":{json.dumps(metadata)},{field}}}}}\n').encode()


@attack("large events of a member", target="manager", sizes={"short": 100, "long": 400},
        flags=("--cluster-memory-mib=64",),
        at_most={"growth MB": 130, "events missing": 0},
        at_most_long={"bystander slowest s": 3})
def large_events(attacked, count):
    """So many events of 2 MB on one watch, where a member may take 64 MiB."""
    sent, ended = [], []

    def rule(asked):
        if not asked.is_watch or asked.resource != "configmaps":
            return False
        asked.begin()
        for number in range(count):
            # Equal texts would be kept once.
            if not asked.write(_event(f"large-{number}", f'"data":{{"text":"{f"{number:8}" * (_MIB // 4)}"}}')):
                break
            sent.append(number)
        ended.append(len(sent))
        asked.hold(10)
        return True

    with attacked.relist(attacked.member, ["configmaps"], rule):
        wait(lambda: ended, 60)
        wait(lambda: attacked.events("ClusterMemoryExceeded"), 20)
    return {"sent MB": len(sent) * 2 * _MIB / 1e6,
            "events missing": int(not attacked.events("ClusterMemoryExceeded"))}


@attack("events that do not end", target="manager", sizes={"short": (8, 2), "long": (190, 20)},
        flags=("--cluster-memory-mib=24",),
        at_most={"growth MB": 130},
        at_most_long={"longest s": 75, "bystander slowest s": 3})
def unfinished_events(attacked, size):
    """15 MB of an event on each watch of the member, then a byte now and then, where a member may take 24 MiB."""
    seconds, pause = size
    text, held, sent = b"x" * (15 * _MIB), [0], []
    end = time.monotonic() + seconds

    def rule(asked):
        if not asked.is_watch:
            return False
        asked.begin()
        began = time.monotonic()
        going = asked.write(b'{"type":"ADDED","object":{"metadata":{"name":"') and asked.write(text)
        sent.append(asked.resource)
        while going and time.monotonic() < end:
            going = asked.hold(pause) and asked.write(b"x")
        held.append(time.monotonic() - began)
        return True

    with attacked.member.ruled(rule):
        attacked.member.cut()
        time.sleep(max(end - time.monotonic(), 0))
    return {"sent MB": len(sent) * len(text) / 1e6, "longest s": max(held)}


@attack("events that take long to read", target="manager", sizes={"short": 4, "long": 30},
        flags=("--cluster-memory-mib=64",),
        at_most={"growth MB": 200},
        at_most_long={"bystander slowest s": 5})
def costly_events(attacked, seconds):
    """Events of 8 MB with half a million values, one after the other on the watches of four kinds."""
    end, sent = time.monotonic() + seconds, itertools.count()
    values = f'"data":[{",".join(["123456789012345"] * 500_000)}]'
    lines = {resource: _event("costly", values, manifest["kind"]) for resource, manifest in BAIT.items()}

    def rule(asked):
        if not asked.is_watch or asked.resource not in lines:
            return False
        asked.begin()
        while time.monotonic() < end and asked.write(lines[asked.resource]):
            next(sent)
        return True

    with attacked.member.ruled(rule):
        attacked.member.cut()
        time.sleep(max(end - time.monotonic(), 0))
    return {"sent": next(sent)}


@attack("statuses that change all the time", target="manager", sizes={"short": 4, "long": 30},
        at_most={"growth MB": 60}, at_most_long={"writes per s": 30, "bystander slowest s": 3})
def changing_statuses(attacked, seconds):
    """The status of one object changes as fast as the events are taken; each change belongs into the control plane."""
    end, sent, writes = time.monotonic() + seconds, itertools.count(), []
    service = attacked.plane.kube(HOSTILE).get("/api/v1/namespaces/default/services/bait")

    def states():
        for number in itertools.count():
            service["metadata"]["resourceVersion"] = str(1_000_000_000 + number)
            service["status"] = {"loadBalancer": {"ingress": [{"ip": f"10.0.{number // 250 % 250}.{number % 250}"}]}}
            yield json.dumps({"type": "MODIFIED", "object": service}).encode() + b"\n"

    def rule(asked):
        if not asked.is_watch or asked.resource != "services":
            return False
        asked.begin()
        lines = states()
        while time.monotonic() < end and asked.write(b"".join(itertools.islice(lines, 200))):
            for _ in range(200):
                next(sent)
        return True

    def count(asked):
        if asked.method != "GET" and "/bystander" not in asked.path:
            writes.append(asked.path)
        return False

    with attacked.member.ruled(rule), attacked.control.ruled(count):
        attacked.member.cut("services")
        time.sleep(max(end - time.monotonic(), 0))
    return {"events per s": next(sent) / seconds, "writes per s": len(writes) / seconds}


@attack("small events of a member", target="manager", sizes={"short": 4, "long": 30},
        at_most={"growth MB": 60},
        at_most_long={"bystander slowest s": 3})
def small_events(attacked, seconds):
    """Changes of one object on the watches of four kinds, as fast as they are taken."""
    end, sent = time.monotonic() + seconds, itertools.count()
    blocks = {resource: _event("busy", f'"data":{{"n":"1"}}', manifest["kind"]).replace(b"ADDED", b"MODIFIED") * 2000
              for resource, manifest in BAIT.items()}

    def rule(asked):
        if not asked.is_watch or asked.resource not in blocks:
            return False
        asked.begin()
        while time.monotonic() < end and asked.write(blocks[asked.resource]):
            next(sent)
        return True

    with attacked.member.ruled(rule):
        attacked.member.cut()
        time.sleep(max(end - time.monotonic(), 0))
    return {"events per s": next(sent) * 2000 / seconds}


@attack("deletions of what never was", target="manager", sizes={"short": 4, "long": 30},
        at_most={"growth MB": 120, "not sent": 0},
        at_most_long={"bystander slowest s": 3})
def endless_deletions(attacked, seconds):
    """Deletions of objects with long names that nobody has seen, on the watches of four kinds, as fast as they are taken; at least
    so many that they would not fit, which takes longer on a busy machine."""
    end, numbers, sent = time.monotonic() + seconds, itertools.count(), [0]
    enough, latest = 200_000, end + 120

    def goes_on():
        return time.monotonic() < (end if sent[0] >= enough else latest)

    def rule(asked):
        if not asked.is_watch or asked.resource not in BAIT:
            return False
        asked.begin()
        line = _event("NAME", '"data":{}', BAIT[asked.resource]["kind"]).replace(b"ADDED", b"DELETED")
        before, between, after = line.split(b"NAME")
        while goes_on():
            names = [f"{next(numbers):0200}".encode() for _ in range(500)]
            sent[0] = max(sent[0], int(names[-1]))
            if not asked.write(b"".join(before + name + between + name + after for name in names)):
                break
        return True

    with attacked.member.ruled(rule):
        attacked.member.cut()
        began = time.monotonic()
        while goes_on():
            time.sleep(0.1)
    return {"events per s": sent[0] / (time.monotonic() - began), "not sent": max(0, enough - sent[0])}


@attack("events of the control plane that do not end", target="manager", sizes={"short": 8, "long": 50},
        at_most={"growth MB": 130}, at_most_long={"bystander slowest s": 58})
def unfinished_control_events(attacked, seconds):
    """15 MB of an event on each watch of the control plane but that of Clusters, without which it is not ready, then a byte every
    two seconds; the watch that follows is answered."""
    text, sent, end = b"x" * (15 * _MIB), [], time.monotonic() + seconds

    def rule(asked):
        if not asked.is_watch or asked.resource == "clusters" or asked.path in sent:
            return False
        sent.append(asked.path)
        asked.begin()
        going = asked.write(b'{"type":"ADDED","object":{"metadata":{"name":"') and asked.write(text)
        while going and time.monotonic() < end:
            going = asked.hold(2) and asked.write(b"x")
        return True

    with attacked.control.ruled(rule):
        for path in attacked.control.watched():
            if not path.endswith("/clusters"):
                attacked.control.cut(path)
        time.sleep(max(end - time.monotonic(), 0))
    return {"sent MB": len(sent) * len(text) / 1e6}


@attack("answers that are larger than may be", target="manager", sizes={"short": 2, "long": 5},
        at_most={"growth MB": 200, "not refused": 0}, at_most_long={"bystander slowest s": 5})
def large_answers(attacked, times):
    """Lists of a member in one answer of 50 MB, of three million values, and of two thousand levels; each so many times."""
    rest = '"apiVersion":"v1","metadata":{"resourceVersion":"999999999"},"items":'
    answers = {"configmaps": '{"kind":"ConfigMapList",' + rest + '[{"metadata":{"name":"' + "x" * 50_000_000 + '"}}]}',
               "secrets": '{"kind":"SecretList",' + rest + "[" + "0," * 3_000_000 + "0]}",
               "services": '{"kind":"ServiceList",' + rest + "[" * 2_000 + "]" * 2_000 + "}"}
    asks = dict.fromkeys(answers, 0)

    def rule(asked):
        if not asked.is_list or asked.resource not in answers:
            return False
        asks[asked.resource] += 1
        asked.answer(answers[asked.resource])
        return True

    def failed():
        lines = [line for line in attacked.log().splitlines() if "caches are not up to date" in line]
        return all(any(f"{resource} of" in line for line in lines) for resource in answers)

    with attacked.relist(attacked.member, list(answers), rule):
        wait(lambda: min(asks.values()) >= times, 20 + 15 * times)
        wait(failed, 20)
    return {"answers": asks, "not refused": int(not failed())}
