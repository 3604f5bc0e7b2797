#!/usr/bin/env python3
"""Runs workloads under every perturbation, and says what ends otherwise than without one (README.md).

    run.py [--build DIR] [--workload NAME...] [--class CLASS...] [--shard N/M] [--seed SEED]
           [--runs N] [--seconds S] [--lanes N] [--journal FILE] [--output json] [-- PROGRAM FLAG...]
    run.py --repeat 'WORKLOAD: RUN'
    run.py --repeat 'value SEED PROBE'

The class "values" has seeds (values/seeds) in the place of workloads. Without a command line behind `--`, the built controller manager is the program. The journal names every run that was
done, with what came of it; runs that it has are not done again. What exceptions.yaml explains does not
fail.
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

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEEDS = HERE / "values" / "seeds"
SCENARIOS = ROOT / "tests" / "data" / "scenarios"

# What all runs have: features that are off by default, and neither an election nor ports.
FLAGS = [
    "--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0",
    "--feature-gates=Failover=true,PropagationPolicyPreemption=true,PriorityBasedScheduling=true,"
    "WorkloadAffinity=true,StatefulFailoverInjection=true,MultiClusterService=true,FederatedQuotaEnforcement=true",
    "--enable-no-execute-taint-eviction=true", "--resource-eviction-rate=10",
    # What would make most of the work of a run.
    "--cluster-status-update-frequency=60s",
    "--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer"]
# Scenarios that only real servers can play: users without rights, metrics of pods.
NEED_REAL_SERVERS = ("agent-certificates", "federated-autoscaler")
CLASSES = ("crash", "answer", "error", "stale", "merged", "order", "election", "values")
WRITE_CODES = (409, 429, 500, 403, 404, 422)
READ_CODES = (429, 500, 403, 404)
LAGS = (1, 2, 3, 5, 8, 13, 21, 34)
LONGEST_RUN = 300  # Seconds of real time.


# ---- Which runs there are ---------------------------------------------------------------------------


def crash_runs(reference):
    writes = len(reference["writes"])
    for write in range(1, writes + 1):
        yield f"crash before {write}"
        yield f"crash after {write}"
    for write in range(1, writes + 1, 3):
        for second in (1, 2, 4):
            yield f"crash twice {write} {second}"


def answer_runs(reference):
    for write in range(1, len(reference["writes"]) + 1):
        yield f"answer lost {write}"
        yield f"answer cut {write}"


def kind_of(request_class):
    """The kind of a request such as "host update works.work.karmada.io/status"; "" when it is about none."""
    server, _, resource = request_class.split(maxsplit=2)
    return "" if resource.startswith("/") else f"{server}/{resource.split('/')[0]}"


def error_runs(reference):
    """Each write is refused in each way; reads, where they are of what the workload changes, or of no kind."""
    changed = set().union(*reference["delivered"][1:])
    for name in reference["classes"]:
        verb = name.split()[1]
        reads = verb in ("get", "list", "watch")
        if kind_of(name).endswith(("/leases.coordination.k8s.io", "/events")) or reads and kind_of(name) not in changed | {""}:
            continue
        for times in (1, 5):
            for code in READ_CODES if reads else WRITE_CODES:
                yield f"error {code} {times} {name}"
            yield f"late timeout {times} {name}"
            if verb != "watch":
                yield f"unread {times} {name}"


def stale_runs(reference):
    versions = reference["versions"]
    for step, version in enumerate(versions[1:], 1):
        for lag in LAGS:
            if lag >= version - versions[0] + LAGS[2]:
                break
            for server in ("host", "all", "member1"):
                yield f"stale {server} {step} {lag}"
                yield f"reconnect {server} {step} {lag}"


def merged_runs(reference):
    steps = len(reference["versions"]) - 1
    for first, last in itertools.combinations_with_replacement(range(1, steps + 1), 2):
        if last - first > 1 and last != steps:
            continue
        yield f"merged all {first} {last}"
        for kind in sorted(set().union(*reference["delivered"][first:last + 1])):
            yield f"merged {kind} {first} {last}"


def order_runs(reference):
    for step, kinds in enumerate(reference["delivered"]):
        if step == 0:
            continue
        for kind in kinds:
            yield f"late {kind} {step}"
        for first, second in itertools.permutations(kinds, 2):
            yield f"order {first} {second} {step}"


def election_runs(reference):
    """Every duration, each time with another write; every edit and every step of clocks with several writes."""
    writes = itertools.cycle(range(1, len(reference["writes"]) + 1))
    if not reference["writes"]:
        return
    for seconds in range(61):
        for who, fault in itertools.product(("leader", "stand-bys", "all"), ("refused", "silent", "lost", "stopped")):
            yield f"election {2 + seconds % 2} {fault} {who} {seconds} {next(writes)}"
        yield f"election {3 - seconds % 2} held {seconds} {next(writes)}"
    for write in range(1, len(reference["writes"]) + 1):
        yield f"election 2 killed {write}"
        yield f"election 2 overtaken {write}"
    for edit in ("deleted", "free", "stranger", "stand-by", "past", "future", "short", "long"):
        for contenders in (2, 3, 2, 3):
            yield f"election {contenders} lease {edit} {next(writes)}"
    for leader, others in itertools.product((-3600, -20, 0, 20, 3600), repeat=2):
        yield f"election 2 clocks {leader} {others} {next(writes)}"


RUNS = {"crash": crash_runs, "answer": answer_runs, "error": error_runs, "stale": stale_runs, "merged": merged_runs,
        "order": order_runs, "election": election_runs,
        "values": lambda reference: reference["runs"]}


def class_of(run):
    word = run.split()[0]
    return {"late": "error" if run.startswith("late timeout") else "order", "unread": "error",
            "reconnect": "stale", "value": "values"}.get(word, word)


def is_seed(path):
    return path.parent == SEEDS


# ---- Running them -----------------------------------------------------------------------------------


class Worker:
    """The process that runs one workload (worker_main.cc)."""

    def __init__(self, build, workload, command, logs, real_time=False):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{workload.stem}-", dir=logs))
        self._errors = open(self.directory / "worker.log", "w")
        self._process = subprocess.Popen(
            [(ROOT / build) / "bin" / "prove_worker", f"--{'seed' if is_seed(workload) else 'workload'}={workload}",
             f"--directory={self.directory}", *(["--real-time"] if real_time else []), "--", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self.reference = self._line()

    def _line(self):
        """The next line; None when the process has ended or takes too long."""
        timer = threading.Timer(LONGEST_RUN, self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        return json.loads(line) if line else None

    def run(self, name):
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
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
            return any(class_of(run) == one["class"] and workload == one.get("workload", workload) and
                       re.search(one["run"], run) and re.search(one["violation"], line) for one in self._all)
        return [line for line in lines if not explained(line)]


class Journal:
    """What was done: one line of JSON for each run, in the order of their ends."""

    def __init__(self, path):
        self.path = path
        self.done = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self.done[entry["workload"], entry["run"]] = entry
        self._lock = threading.Lock()
        self._file = open(path, "a") if path else None

    def add(self, entry):
        with self._lock:
            self.done[entry["workload"], entry["run"]] = entry
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
        self.command = options.command or [str(ROOT / options.build / "bin" / "karmada-controller-manager"), *FLAGS]
        self.exceptions = Exceptions()
        self.left = collections.Counter()
        self._say = threading.Lock()

    def say(self, text):
        with self._say:
            print(text, flush=True)

    def runs_of(self, workload, reference):
        """The runs of this shard that are still to be done, in an order that each day another seed shuffles."""
        index, count = self.options.shard
        classes = [name for name in self.options.classes if (name == "values") == is_seed(workload)]
        runs = [run for name in classes for run in RUNS[name](reference)]
        random.Random(f"{self.options.seed} {workload.stem}").shuffle(runs)
        runs = [run for run in runs[index::count] if (workload.stem, run) not in self.journal.done]
        return runs[:self.options.runs] if self.options.runs else runs

    def workload(self, path):
        worker = Worker(self.options.build, path, self.command, self.logs, self.options.real_time)
        try:
            if worker.reference is None or worker.reference["failure"]:
                why = worker.reference["failure"] if worker.reference else worker.error()
                self.note(path, {"run": "reference", "violations": [f"the reference failed: {why}"]})
                return
            if not self.references_agree(path, worker):
                return
            runs = self.runs_of(path, worker.reference)
            for at, run in enumerate(runs):
                if time.monotonic() > self.deadline:
                    self.left[path.stem] += len(runs) - at
                    return
                result = worker.run(run)
                if result is None:
                    self.note(path, {"run": run, "violations": [f"the harness ended: {worker.error()}"]})
                    worker.end()
                    worker = Worker(self.options.build, path, self.command, self.logs, self.options.real_time)
                    if worker.reference is None:
                        return
                    continue
                self.note(path, result)
        finally:
            worker.end()
            if not any(worker.directory.glob("*/daemon.log")):
                shutil.rmtree(worker.directory, ignore_errors=True)

    def references_agree(self, path, worker):
        """A workload whose end depends on chance proves nothing."""
        again = worker.run("reference")
        if again is not None and not again["violations"]:
            return True
        self.note(path, {"run": "reference", "violations": again["violations"] if again else [worker.error()]})
        return False

    def note(self, path, result):
        violations = self.exceptions.without(path.stem, result["run"], result["violations"])
        entry = {"workload": path.stem, "run": result["run"], "violations": violations,
                 "excepted": len(result["violations"]) > len(violations),
                 "refused": result.get("refused", ""), "seconds": round(result.get("realSeconds", 0), 3), "perturbed": result.get("perturbed", True)}
        self.journal.add(entry)
        if entry["violations"]:
            self.say(f"FAILED {path.stem}: {entry['run']}")
            for line in entry["violations"][:8]:
                self.say(f"    {line}")

    def all(self, paths):
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
                self.workload(path)
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
        row = rows.setdefault(class_of(entry["run"]), {"runs": 0, "seconds": 0, "failed": 0, "excepted": 0, "in vain": 0, "refused": 0})
        row["runs"] += 1
        row["seconds"] += entry["seconds"]
        row["failed"] += bool(entry["violations"])
        row["excepted"] += entry.get("excepted", False)
        row["in vain"] += not entry["perturbed"]
        row["refused"] += bool(entry.get("refused"))
    return rows


def is_value(entry):
    return entry["run"].startswith("value ")


def print_table(rows):
    print(f"\n{'class':<12}{'runs':>8}{'seconds':>10}{'failed':>8}{'excepted':>10}{'in vain':>9}{'refused':>9}")
    for name, row in rows.items():
        print(f"{name:<12}{row['runs']:>8}{row['seconds']:>10.0f}{row['failed']:>8}{row['excepted']:>10}{row['in vain']:>9}"
              f"{row['refused']:>9}")


def workloads(names, classes, seed=""):
    """The paths of workloads and seeds of these names; of all for none."""
    paths = []
    if set(classes) - {"values"}:
        paths += [*SCENARIOS.glob("*.yaml"), *(HERE / "workloads").glob("*.yaml")]
    if "values" in classes:
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
    parser.add_argument("--class", nargs="*", default=list(CLASSES), choices=CLASSES, dest="classes")
    parser.add_argument("--shard", type=shard, default=(0, 1), metavar="N/M")
    parser.add_argument("--seed", default="1", help="in which order runs are done, and so what a shard has")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="of each workload so many at most")
    parser.add_argument("--seconds", type=float, default=4 * 3600)
    parser.add_argument("--lanes", type=int, default=os.cpu_count() + 1)
    parser.add_argument("--journal", type=pathlib.Path)
    parser.add_argument("--output", choices=("text", "json"), default="text")
    parser.add_argument("--repeat", metavar="'WORKLOAD: RUN'")
    parser.add_argument("--real-time", action="store_true",
                        help="for a program that does not use the C library, as one written in Go; without an election")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    proof = Proof(options)
    if options.repeat:
        if class_of(options.repeat) == "values":
            name, run = options.repeat.split(" ", 2)[1], options.repeat
        else:
            name, _, run = options.repeat.partition(": ")
        worker = Worker(options.build, workloads([name], CLASSES)[0], proof.command, proof.logs, options.real_time)
        result = worker.run(run)
        print(json.dumps(result, indent=1) if result else worker.error())
        print(f"logs: {worker.directory}")
        worker.end()
        return int(not result or bool(result["violations"]))
    proof.all(workloads(options.names, options.classes, options.seed))
    rows = table(proof.journal.done.values())
    failed = [entry for entry in proof.journal.done.values() if entry["violations"]]
    if options.output == "json":
        print(json.dumps({"classes": rows, "left": proof.left, "failed": failed}, indent=1))
    else:
        print_table(rows)
        for entry in failed:
            workload = "" if is_value(entry) else f"{entry['workload']}: "
            print(f"again: tests/prove/run.py --repeat {shlex.quote(workload + entry['run'])}")
        if proof.left:
            print(f"left for want of time: {sum(proof.left.values())} runs of {len(proof.left)} workloads")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
