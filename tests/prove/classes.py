"""Which runs there are: for each class the perturbations of a workload, by what its reference has shown (README.md).

    perturbations = list(RUNS["crash"](reference, Scope(seed)))
    runs = joined(perturbations)
"""

import collections
import itertools
import threading
import zlib

WRITE_CODES = (409, 429, 500, 403, 404, 422)
READ_CODES = (429, 500, 403, 404)
UNCOUNTED = ("/leases.coordination.k8s.io", "/events")
TWIN = ("clusterpropagationpolicies.", "clusteroverridepolicies.")
AFTER_PAUSE = " (after a pause)"  # As perturbation.h has it.


# A perturbation: its name, and the steps that it takes. Nothing of another one may happen there.
Perturbation = collections.namedtuple("Perturbation", "name first last", defaults=(None, None))
START = 0  # The step in which the daemon starts. It is the same for all workloads.


class Scope:
    """What of all that is the same in several workloads this one has to do."""

    def __init__(self, seed, member="member1", index=0, count=1):
        self.member = member  # One that the program under test has to do with.
        self._seed, self._index, self._count = seed, index, count
        self._times = {}
        self._lock = threading.Lock()

    def of(self, index, count):
        """The scope of that one of so many workloads."""
        scope = Scope(self._seed, self.member, index, count)
        scope._times, scope._lock = self._times, self._lock
        return scope

    def is_mine(self, name):
        """Whether this workload is the one that does what all could do."""
        return zlib.crc32(f"{self._seed} {name}".encode()) % self._count == self._index

    def is_half(self, name):
        """Divides names into halves, each day otherwise."""
        return zlib.crc32(f"half {self._seed} {name}".encode()) % 2 == 1

    def is_needed(self, name, times):
        """Whether no other workloads have done it so often."""
        with self._lock:
            self._times[name] = self._times.get(name, 0) + 1
            return self._times[name] <= times


def writes_of(reference, scope):
    """Step, number there, class of request, and whether the daemon waited before, for each write that this workload has to strike."""
    for step, writes in enumerate(reference["writesOfStep"]):
        for number, text in enumerate(writes, 1):
            if step != START or scope.is_mine(f"start {number}"):
                yield step, number, text.removesuffix(AFTER_PAUSE), text.endswith(AFTER_PAUSE)


def crash_runs(reference, scope):
    """
    A fresh process begins with what the servers have. That is the same before a write and after the one before, unless
    somebody else has written in between, which takes time.
    """
    for step, number, _, paused in writes_of(reference, scope):
        yield Perturbation(f"crash after {step}.{number}", step, step)
        if paused:
            yield Perturbation(f"crash before {step}.{number}", step, step)
        if number % 3 == 1:
            for second in (1, 2, 4) if number % 9 == 1 else (1,):
                yield Perturbation(f"crash twice {step}.{number} {second}", step, step)


def answer_runs(reference, scope):
    """Whether an answer is lost or cut matters to the client alone, which does the same with each of a class."""
    seen = set()
    for step, number, request_class, _ in writes_of(reference, scope):
        yield Perturbation(f"answer lost {step}.{number}", step, step)
        if request_class not in seen:
            yield Perturbation(f"answer cut {step}.{number}", step, step)
        seen.add(request_class)


def kind_of(request_class):
    """The kind of a request such as "host update works.work.karmada.io/status"; "" when it is about none."""
    server, _, resource = request_class.split(maxsplit=2)
    return "" if resource.startswith("/") else f"{server}/{resource.split('/')[0]}"


def errors_of(verb):
    """Each answer once, and one of them five times: how often only determines how long the back-off gets."""
    for code in READ_CODES if verb in ("get", "list", "watch") else WRITE_CODES:
        yield f"error {code} 1"
    yield "error 500 5"
    yield "late timeout 1"
    if verb != "watch":
        yield "unread 1"


def error_runs(reference, scope):
    """
    Each class of requests, a verb and a kind, gets each answer, in two workloads if so many have it, where it comes first
    after the start; and once at the start. Reads, where they are of what the workload changes, or of no kind.
    """
    changed = set().union(*reference["delivered"][1:]) | {""}
    met = set()
    for step, classes in enumerate(reference["classesOfStep"]):
        for name in classes:
            verb, kind = name.split()[1], kind_of(name)
            reads = verb in ("get", "list", "watch")
            if (step != START and name in met) or kind.endswith(UNCOUNTED) or reads and kind not in changed:
                continue
            if step != START:
                met.add(name)
            for answer in errors_of(verb):
                if step == START and not scope.is_needed(f"start {answer} {name}", 1):
                    continue
                if step != START and not scope.is_needed(f"{answer} {name}", 2):
                    continue
                yield Perturbation(f"{answer} {step} {name}", step, step)


def stale_runs(reference, scope):
    """
    What is old: as it was when the step began, in the midst of it, and when the one before, or the third before, began. Between
    two steps nothing changes, so that other ages show what these show. Members have histories of their own.
    """
    versions = reference["versions"]
    for step in range(1, len(versions)):
        changes = versions[step] - versions[step - 1]
        ages = {changes, (changes + 1) // 2, versions[step] - versions[max(step - 2, 0)], versions[step] - versions[max(step - 4, 0)]}
        for age in sorted(ages - {0}):
            yield Perturbation(f"stale host {step} {age}", step, step)
            yield Perturbation(f"reconnect host {step} {age}", step, step)
        if any(kind.startswith("member/") for kind in reference["delivered"][step]):
            for what, server, age in itertools.product(("stale", "reconnect"), (scope.member, "all"), (1, 5)):
                yield Perturbation(f"{what} {server} {step} {age}", step, step)


def merged_runs(reference, scope):
    """Each kind alone and all of them, in each step; over two steps, and to the end, what changes in both."""
    delivered = reference["delivered"]
    last = len(delivered) - 1
    for step in range(1, last + 1):
        for kind in ("all", *delivered[step]):
            yield Perturbation(f"merged {kind} {step} {step}", step, step)
        if step < last:
            for kind in ("all", *sorted(set(delivered[step]) & set(delivered[step + 1]))):
                yield Perturbation(f"merged {kind} {step} {step + 1}", step, step + 1)
        if step < last - 1:
            yield Perturbation(f"merged all {step} {last}", step, last)


def order_runs(reference, scope):
    """
    Each kind after all others, in each step; and two kinds after all others, in both orders, where they first change in the same
    step, in two workloads if so many have them.
    """
    met = set()
    for step, kinds in enumerate(reference["delivered"]):
        if step == START:
            continue
        for kind in kinds:
            yield Perturbation(f"late {kind} {step}", step, step)
        for pair in itertools.permutations(kinds, 2):
            if pair not in met and len(kinds) > 2 and scope.is_needed(f"order {pair}", 2):
                yield Perturbation(f"order {' '.join(pair)} {step}", step, step)
            met.add(pair)


# What is done to a webhook, as hook_faults.h calls it, and how often, or for how many seconds: to one call, and so long that its
# calls are suspended and tried again.
HOOK_FAULTS = ("refused 5", "refused 200", "lost 1", "lost 9", "cut 1", "silent 1", "silent 9", "late 1", "late 9", "tardy 1", "twice 1",
               "page 1", "page 9", "empty 1", "uid 1", "uid 9", "rejected 1", "rejected 9", "404 1", "429 1", "429 9", "500 1", "500 9")
# For all calls but the first of its operation in a step.
LATER_HOOK_FAULTS = ("refused 60", "lost 1", "silent 1", "rejected 1", "500 9")
PATCHES = ("ReviseReplica", "Retain", "AggregateStatus", "ExploreReplicaRevising", "ExploreRetaining", "ExplorePacking")


def webhook_runs(reference, scope):
    """The first call of each operation in each step meets each fault, and the others one of each way to fail."""
    for step, operations in enumerate(reference["callsOfStep"]):
        met = collections.Counter()
        for operation in operations:
            met[operation] += 1
            faults = LATER_HOOK_FAULTS if met[operation] > 1 else HOOK_FAULTS
            if operation in PATCHES and met[operation] == 1:
                faults = (*faults, "patch 1", "patch 9")
            for fault in faults:
                yield Perturbation(f"webhook {fault} {step}.{met[operation]} {operation}", step, step)


def election_runs(reference, scope):
    """
    Who leads does not depend on the workload: each duration, each edit and each step of clocks is tried with one of them. What a
    write does that arrives late depends on its class.
    """
    writes = [(number, text.removesuffix(AFTER_PAUSE)) for number, text in
              enumerate(itertools.chain(*reference["writesOfStep"]), 1)]
    if not writes:
        return
    for number, request_class in writes:
        if request_class not in [earlier for _, earlier in writes[:number - 1]]:
            for what in ("killed", "overtaken"):
                if scope.is_needed(f"election {what} {request_class}", 4):
                    yield Perturbation(f"election 2 {what} {number}")
    for name in elections():
        if scope.is_mine(name):
            yield Perturbation(f"{name} {1 + zlib.crc32(name.encode()) % len(writes)}")


def elections():
    for seconds in range(61):
        for who, fault in itertools.product(("leader", "stand-bys", "all"), ("refused", "silent", "lost", "stopped")):
            yield f"election {2 + seconds % 2} {fault} {who} {seconds}"
        yield f"election {3 - seconds % 2} held {seconds}"
    for edit in ("deleted", "free", "stranger", "stand-by", "past", "future", "short", "long"):
        for contenders in (2, 3):
            yield f"election {contenders} lease {edit}"
    for leader, others in itertools.product((-3600, -20, 0, 20, 3600), repeat=2):
        yield f"election 2 clocks {leader} {others}"


def value_runs(reference, scope):
    """A policy and its cluster-wide twin have one schema and one implementation: each value is tried with one of them."""
    for run in reference["runs"]:
        _, seed, probe = run.split(" ", 2)
        is_cluster_wide = seed.startswith(TWIN)
        twin = is_cluster_wide or seed.startswith(("propagationpolicies.", "overridepolicies."))
        if not twin or scope.is_half(probe) == is_cluster_wide:
            yield Perturbation(run)


RUNS = {"crash": crash_runs, "answer": answer_runs, "error": error_runs, "stale": stale_runs, "merged": merged_runs,
        "order": order_runs, "webhook": webhook_runs, "election": election_runs,
        "values": value_runs}


def joined(perturbations):
    """
    The runs that make all of them, as lists. When a step has settled as in the reference, what was done in it is over, and the next one
    may have a perturbation of its own: so one run makes several, one after the other.
    """
    runs = [[one] for one in perturbations if one.first is None]
    waiting = collections.defaultdict(list)
    for one in perturbations:
        if one.first is not None:
            waiting[one.first].append(one)
    while any(waiting.values()):
        run, step = [], 0
        for step in sorted(step for step, ones in waiting.items() if ones):
            if not run or step > run[-1].last:
                run.append(waiting[step].pop(0))
        runs.append(run)
    return runs


def class_of(run):
    word = run.split()[0]
    return {"late": "error" if run.startswith("late timeout") else "order", "unread": "error",
            "reconnect": "stale", "value": "values", "away": "member", "restored": "member", "emptied": "member"}.get(word, word)


def parts_of(run):
    return [run] if class_of(run) == "values" else run.split(" & ")
