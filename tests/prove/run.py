#!/usr/bin/env python3
"""Runs workloads under every perturbation, and says what ends otherwise than without one (README.md).

    run.py [--build DIR] [--workload NAME...] [--class CLASS...] [--shard N/M] [--seed SEED]
           [--runs N] [--seconds S] [--lanes N] [--journal FILE] [--output json] [-- PROGRAM FLAG...]
    run.py [--agent|--search] --repeat 'WORKLOAD: RUN'
    run.py --repeat 'value SEED PROBE'

The class "values" has seeds (values/seeds) in the place of workloads. Without a command line behind `--`, the built
controller manager is the program; with --agent it is the built agent of the last member, beside a controller manager to
which nothing is done; with --search it is the built karmada-search, with workloads and classes of its own (search/). The journal names every run that was done, with what came of it; runs that it has are not done again.
What exceptions.yaml explains does not fail.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import queue
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from search import which_runs as search  # noqa: E402  (the path has to be set first)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEEDS = HERE / "values" / "seeds"
SEARCH_WORKLOADS = HERE / "search" / "workloads"
SCENARIOS = ROOT / "tests" / "data" / "scenarios"

# What all runs have: features that are off by default, and neither an election nor ports.
NO_PORTS = ["--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"]
FLAGS = [
    *NO_PORTS,
    "--feature-gates=Failover=true,PropagationPolicyPreemption=true,PriorityBasedScheduling=true,"
    "WorkloadAffinity=true,StatefulFailoverInjection=true,MultiClusterService=true,FederatedQuotaEnforcement=true",
    "--enable-no-execute-taint-eviction=true", "--resource-eviction-rate=10",
    # What would make most of the work of a run.
    "--cluster-status-update-frequency=60s",
    "--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer"]
# Nobody issues tokens in simulated members.
AGENT_FLAGS = [*NO_PORTS, "--report-secrets=None", "--feature-gates=MultiClusterService=true", "--cluster-status-update-frequency=60s"]
# What an agent has no part in: who leads, and what a user writes; and a member that is removed is registered again by the next
# start of its agent, and not when the workload says so.
NOT_OF_AGENTS = {"classes": ("election", "values"), "workloads": ("member-leaves", "quota-recreated", "unjoin", "users-of-members")}
# Scenarios that only real servers can play: users without rights, metrics of pods.
NEED_REAL_SERVERS = ("agent-certificates", "federated-autoscaler")
CLASSES = ("crash", "answer", "error", "stale", "merged", "order", "election", "values")
WRITE_CODES = (409, 429, 500, 403, 404, 422)
READ_CODES = (429, 500, 403, 404)
UNCOUNTED = ("/leases.coordination.k8s.io", "/events")
TWIN = ("clusterpropagationpolicies.", "clusteroverridepolicies.")
AFTER_PAUSE = " (after a pause)"  # As perturbation.h has it.
LONGEST_RUN = 900  # Seconds of real time: on a machine that has much else to do.
LAST_RUN = 90  # Seconds that the last runs get when the time is over.


class OutOfTime(Exception):
    """What was begun could not be finished in the time that there is."""


# ---- Which runs there are ---------------------------------------------------------------------------


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
        "order": order_runs, "election": election_runs,
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


def is_seed(path):
    return path.parent == SEEDS


def is_of_search(path):
    return path.parent == SEARCH_WORKLOADS


# ---- Running them -----------------------------------------------------------------------------------


class Worker:
    """The process that runs one workload (worker_main.cc)."""

    def __init__(self, build, workload, command, logs, real_time=False, until=float("inf")):
        self._until = until
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{workload.stem}-", dir=logs))
        self._errors = open(self.directory / "worker.log", "w")
        self._process = subprocess.Popen(
            [(ROOT / build) / "bin" / ("prove_search_worker" if is_of_search(workload) else "prove_worker"), f"--{'seed' if is_seed(workload) else 'workload'}={workload}",
             f"--directory={self.directory}", *(["--real-time"] if real_time else []), "--", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        try:
            self.reference = self._line()
        except OutOfTime:
            self.end()
            raise

    def _line(self):
        """The next line; None when the process has ended or takes too long."""
        left = self._until - time.monotonic()
        timer = threading.Timer(max(1, min(LONGEST_RUN, left)), self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if not line and time.monotonic() > self._until:
            raise OutOfTime
        return json.loads(line) if line else None

    def run(self, name):
        try:
            self._process.stdin.write(name + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        return self._line()

    def end(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def error(self):
        return (self.directory / "worker.log").read_text()[-2000:]


class Exceptions:
    """What a run may end with otherwise than the reference, by exceptions.yaml, each with its reason."""

    def __init__(self):
        self._all = yaml.safe_load((HERE / "exceptions.yaml").read_text()) or []
        for one in self._all:
            if set(one) - {"workload"} != {"class", "run", "violation", "reason"}:
                sys.exit(f"prove: exceptions.yaml: class, run, violation and reason are wanted: {one}")

    def without(self, workload, run, lines):
        """The lines that no exception explains."""
        def explained(line):
            return any(class_of(run) in one["class"].split() and workload == one.get("workload", workload) and
                       any(re.search(one["run"], part) for part in parts_of(run)) and re.search(one["violation"], line)
                       for one in self._all)
        return [line for line in lines if not explained(line)]


class Journal:
    """What was done: one line of JSON for each run, in the order of their ends."""

    def __init__(self, path):
        self.path = path
        self.done = {}
        self.parts = set()  # Of all runs: (workload, perturbation).
        if path and path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self._note(entry)
        self._lock = threading.Lock()
        self._file = open(path, "a") if path else None

    def _note(self, entry):
        self.done[entry["workload"], entry["run"]] = entry
        self.parts |= {(entry["workload"], part) for part in parts_of(entry["run"])}

    def add(self, entry):
        with self._lock:
            self._note(entry)
            if self._file:
                self._file.write(json.dumps(entry) + "\n")
                self._file.flush()


class Proof:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.seconds
        self.logs = ROOT / options.build / "prove"
        self.logs.mkdir(exist_ok=True)
        self.journal = Journal(options.journal)
        programs = ROOT / options.build / "bin"
        manager = [str(programs / "karmada-controller-manager"), *FLAGS]
        agent = [str(programs / "karmada-agent"), *AGENT_FLAGS, "--", *manager]
        search_program = [str(programs / "karmada-search")]
        self.command = options.command or (search_program if options.search else agent if options.agent else manager)
        self.exceptions = Exceptions()
        self.scope = Scope(options.seed, "member2" if options.agent else "member1")
        self.places = {}
        self.left = collections.Counter()
        self._say = threading.Lock()

    def say(self, text):
        with self._say:
            print(text, flush=True)

    def runs_of(self, workload, reference):
        """The runs of this shard that are still to be done, in an order that each day another seed shuffles."""
        index, count = self.options.shard
        classes = [name for name in self.options.classes if (name == "values") == is_seed(workload)]
        scope = self.scope.of(*self.places[workload])
        runs = []
        for name in classes:
            if is_of_search(workload):
                perturbations = [Perturbation(*one) for one in search.RUNS[name](reference["steps"], scope.is_mine)]
            else:
                perturbations = list(RUNS[name](reference, scope))
            random.Random(f"{self.options.seed} {workload.stem} {name}").shuffle(perturbations)
            runs += joined([one for one in perturbations[index::count] if (workload.stem, one.name) not in self.journal.parts])
        random.Random(f"{self.options.seed} {workload.stem}").shuffle(runs)
        return runs[:self.options.runs] if self.options.runs else runs

    def worker(self, path):
        return Worker(self.options.build, path, self.command, self.logs, self.options.real_time, self.deadline + LAST_RUN)

    def workload(self, path):
        worker = self.worker(path)
        try:
            if worker.reference is None or worker.reference["failure"]:
                why = worker.reference["failure"] if worker.reference else worker.error()
                self.note(path, {"run": "reference", "violations": [f"the reference failed: {why}"]})
                return
            if not self.references_agree(path, worker):
                return
            runs = collections.deque(self.runs_of(path, worker.reference))
            while runs:
                if time.monotonic() > self.deadline:
                    self.left[path.stem] += len(runs)
                    return
                run = runs.popleft()
                name = " & ".join(one.name for one in run)
                result = worker.run(name)
                if result is None:
                    self.note(path, {"run": name, "violations": [f"the harness ended: {worker.error()}"]})
                    worker.end()
                    worker = self.worker(path)
                    if worker.reference is None:
                        return
                    continue
                stopped_after = result.get("stoppedAfter", -1)
                # What an exception explains has ended the run, too.
                rest = [one for one in run if one.first is not None and -1 < stopped_after < one.first]
                if not self.note(path, result, worker) and rest:
                    runs.appendleft(rest)
        finally:
            worker.end()
            if not any(worker.directory.glob("*/daemon.log")):
                shutil.rmtree(worker.directory, ignore_errors=True)

    def references_agree(self, path, worker):
        """
        A workload whose end depends on chance proves nothing. Of what it warns of on its way all references together tell, and so it is
        enough when one of three adds nothing.
        """
        for _ in range(3):
            again = worker.run("reference")
            if again is None or any(not line.startswith("warns: ") for line in again["violations"]):
                break
            if not again["violations"]:
                return True
        self.note(path, {"run": "reference", "violations": again["violations"] if again else [worker.error()]})
        return False

    def culprits(self, path, run, worker):
        """Does the perturbations of a run one by one; returns whether one of them fails alone."""
        failed = False
        for part in parts_of(run):
            result = worker.run(part)
            if result is None:
                return failed
            failed |= self.note(path, result)
        return failed

    def note(self, path, result, worker=None):
        """Notes a run; returns whether it has failed. With a worker, it finds out which part of the run has."""
        violations = self.exceptions.without(path.stem, result["run"], result["violations"])
        if violations and worker and len(parts_of(result["run"])) > 1 and self.culprits(path, result["run"], worker):
            return True
        entry = {"workload": path.stem, "run": result["run"], "violations": violations,
                 "excepted": len(result["violations"]) > len(violations),
                 "refused": result.get("refused", ""), "seconds": round(result.get("realSeconds", 0), 3), "cpu": round(result.get("cpuSeconds", 0), 3), "perturbed": result.get("perturbed", True)}
        self.journal.add(entry)
        if entry["violations"]:
            self.say(f"FAILED {path.stem}: {entry['run']}")
            for line in entry["violations"][:8]:
                self.say(f"    {line}")
        return bool(violations)

    def all(self, paths):
        for alike in ([path for path in paths if not is_seed(path)], [path for path in paths if is_seed(path)]):
            self.places |= {path: (index, len(alike)) for index, path in enumerate(alike)}
        waiting = queue.Queue()
        for path in paths:
            waiting.put(path)

        def lane():
            while True:
                try:
                    path = waiting.get_nowait()
                except queue.Empty:
                    return
                if time.monotonic() > self.deadline:
                    self.left[path.stem] += 1
                    continue
                began = time.monotonic()
                try:
                    self.workload(path)
                except OutOfTime:
                    self.left[path.stem] += 1
                self.say(f"{path.stem}: {time.monotonic() - began:.0f} s")
        lanes = [threading.Thread(target=lane) for _ in range(self.options.lanes)]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()


# ---- What came of them ------------------------------------------------------------------------------


def table(entries):
    rows = {}
    for entry in entries:
        row = rows.setdefault(class_of(entry["run"]), {"perturbations": 0, "runs": 0, "seconds": 0, "cpu": 0, "failed": 0, "excepted": 0, "in vain": 0, "refused": 0})
        row["perturbations"] += len(parts_of(entry["run"]))
        row["runs"] += 1
        row["seconds"] += entry["seconds"]
        row["cpu"] += entry.get("cpu", 0)
        row["failed"] += bool(entry["violations"])
        row["excepted"] += entry.get("excepted", False)
        row["in vain"] += not entry["perturbed"]
        row["refused"] += bool(entry.get("refused"))
    return rows


def is_value(entry):
    return entry["run"].startswith("value ")


def print_table(rows):
    print(f"\n{'class':<12}{'perturbations':>14}{'runs':>8}{'seconds':>10}{'CPU':>8}{'failed':>8}{'excepted':>10}{'in vain':>9}{'refused':>9}")
    for name, row in rows.items():
        print(f"{name:<12}{row['perturbations']:>14}{row['runs']:>8}{row['seconds']:>10.0f}{row['cpu']:>8.0f}{row['failed']:>8}{row['excepted']:>10}{row['in vain']:>9}"
              f"{row['refused']:>9}")


def workloads(names, classes, seed="", of_search=False):
    """The paths of workloads and seeds of these names; of all for none."""
    paths = []
    if of_search:
        paths += SEARCH_WORKLOADS.glob("*.yaml")
    elif not classes or set(classes) - {"values"}:  # Without a class, there are the references.
        paths += [*SCENARIOS.glob("*.yaml"), *(HERE / "workloads").glob("*.yaml")]
    if "values" in classes and not of_search:
        paths += SEEDS.glob("*.yaml")
    paths.sort()
    # Whoever has little time does not do the same ones each time.
    random.Random(f"workloads {seed}").shuffle(paths)
    paths = [path for path in paths if path.stem not in ("differences", "sandbox-differences", *NEED_REAL_SERVERS)]
    unknown = set(names) - {path.stem for path in paths}
    if unknown:
        sys.exit(f"prove: there is no workload {', '.join(sorted(unknown))}")
    return [path for path in paths if not names or path.stem in names]


def shard(text):
    index, count = text.split("/")
    return int(index) - 1, int(count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--workload", nargs="*", default=[], dest="names")
    parser.add_argument("--class", nargs="*", default=[], choices=sorted({*CLASSES, *search.CLASSES}), dest="classes")
    parser.add_argument("--shard", type=shard, default=(0, 1), metavar="N/M")
    parser.add_argument("--seed", default="1", help="in which order runs are done, and so what a shard has")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="of each workload so many at most")
    parser.add_argument("--seconds", type=float, default=4 * 3600)
    parser.add_argument("--lanes", type=int, default=os.cpu_count() + 1)
    parser.add_argument("--journal", type=pathlib.Path)
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.add_argument("--agent", action="store_true", help="the agent of a member in pull mode is the program under test")
    parser.add_argument("--search", action="store_true", help="karmada-search is the program under test")
    parser.add_argument("--repeat", metavar="'WORKLOAD: RUN'")
    parser.add_argument("--real-time", action="store_true",
                        help="for a program that does not use the C library, as one written in Go; without an election")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    known = search.CLASSES if options.search else CLASSES
    options.classes = [name for name in options.classes or known if name in known]
    if options.agent:
        options.classes = [name for name in options.classes if name not in NOT_OF_AGENTS["classes"]]
    proof = Proof(options)
    if options.repeat:
        if class_of(options.repeat) == "values":
            name, run = options.repeat.split(" ", 2)[1], options.repeat
        else:
            name, _, run = options.repeat.partition(": ")
        worker = Worker(options.build, workloads([name], CLASSES, of_search=options.search)[0], proof.command, proof.logs, options.real_time)
        result = worker.run(run)
        print(json.dumps(result, indent=1) if result else worker.error())
        print(f"logs: {worker.directory}")
        worker.end()
        return int(not result or bool(result["violations"]))
    paths = workloads(options.names, options.classes, options.seed, options.search)
    proof.all([path for path in paths if not options.agent or path.stem not in NOT_OF_AGENTS["workloads"]])
    rows = table(proof.journal.done.values())
    failed = [entry for entry in proof.journal.done.values() if entry["violations"]]
    if options.output == "json":
        print(json.dumps({"classes": rows, "left": proof.left, "failed": failed}, indent=1))
    else:
        print_table(rows)
        for entry in failed:
            workload = "" if is_value(entry) else f"{entry['workload']}: "
            program = "--agent " if options.agent else "--search " if options.search else ""
            print(f"again: tests/prove/run.py {program}--repeat {shlex.quote(workload + entry['run'])}")
        if proof.left:
            print(f"left for want of time: {sum(proof.left.values())} runs of {len(proof.left)} workloads")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
