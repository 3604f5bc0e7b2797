#!/usr/bin/env python3
"""Runs workloads under every perturbation, and says what ends otherwise than without one (README.md).

    run.py [--build DIR] [--workload NAME...] [--class CLASS...] [--shard N/M] [--seed SEED]
           [--runs N] [--seconds S] [--lanes N] [--journal FILE] [--output json] [--program FILE | -- PROGRAM FLAG...]
    run.py [--agent|--search] --repeat 'WORKLOAD: RUN' [--workload-file FILE] [--shrink] [--order FILE]
    run.py --repeat 'value SEED PROBE'

The class "values" has seeds (values/seeds) in the place of workloads. Without another program or a command line behind
`--`, the built controller manager is what is tried; with --agent it is the built agent of the last member, beside a controller
manager to which nothing is done; with --search it is the built karmada-search, with workloads and classes of its own (search/).
The journal names every run that was done, with what came of it; runs that it has are not done again, but for those that failed.
What exceptions.yaml explains does not fail. With --shrink the workload of a failing run is made as small as it can be
(shrink.py); a workload of a file of its own takes the place of the one that is named.
"""

import argparse
import collections
import json
import os
import pathlib
import queue
import random
import shlex
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True
from classes import RUNS, Perturbation, Scope, class_of, joined, parts_of  # noqa: E402
from journal import Exceptions, Journal, print_table, table  # noqa: E402
from search import which_runs as search  # noqa: E402
from shrink import shrink  # noqa: E402
from worker import HERE, ROOT, SEARCH_WORKLOADS, SEEDS, OutOfTime, Worker, is_of_search, is_seed  # noqa: E402

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
CLASSES = ("crash", "answer", "error", "stale", "merged", "order", "webhook", "election", "values")
WEBHOOK = "{{url}}"  # Stands in workloads with a webhook.
LAST_RUN = 90  # Seconds that the last runs get when the time is over.


class Proof:
    def __init__(self, options):
        self.options = options
        self.deadline = time.monotonic() + options.seconds
        self.logs = ROOT / options.build / "prove"
        self.logs.mkdir(exist_ok=True)
        self.exceptions = Exceptions()
        self.journal = Journal(options.journal, self.exceptions)
        programs = ROOT / options.build / "bin"
        manager = [str(options.program or programs / "karmada-controller-manager"), *FLAGS]
        agent = [str(programs / "karmada-agent"), *AGENT_FLAGS, "--", *manager]
        search_program = [str(programs / "karmada-search")]
        self.command = options.command or (search_program if options.search else agent if options.agent else manager)
        # Who does not know the sandbox may want TLS before it sends a token, as client-go does.
        self.flags = [*["--real-time"] * options.real_time, *["--tls"] * bool(options.program or options.command)]
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

    def worker(self, path, flags=()):
        return Worker(self.options.build, path, self.command, self.logs, self.deadline + LAST_RUN, [*self.flags, *flags])

    def again(self, workload, run):
        """The command that repeats a run."""
        program = "--agent " if self.options.agent else "--search " if self.options.search else ""
        if self.options.program:
            program = f"--program {shlex.quote(str(self.options.program))} "
        name = run if class_of(run) == "values" else f"{workload}: {run}"
        return f"tests/prove/run.py {program}--repeat {shlex.quote(name)}"

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
            if result.get("logs"):
                self.say(f"    logs: {result['logs']}")
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


def workloads(names, classes, seed="", of_search=False):
    """The paths of workloads and seeds of these names; of all for none."""
    paths = []
    if of_search:
        paths += SEARCH_WORKLOADS.glob("*.yaml")
    elif not classes or set(classes) - {"values"}:  # Without a class, there are the references.
        paths += [*SCENARIOS.glob("*.yaml"), *(HERE / "workloads").glob("*.yaml")]
        if set(classes) == {"webhook"}:
            paths = [path for path in paths if WEBHOOK in path.read_text()]
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


def repeat(proof):
    """Does one run again, or makes its workload smaller."""
    options = proof.options
    if class_of(options.repeat) == "values":
        name, run = options.repeat.split(" ", 2)[1], options.repeat
    else:
        name, _, run = options.repeat.partition(": ")
    path = options.workload_file or workloads([name], CLASSES, of_search=options.search)[0]
    if options.search and (options.shrink or options.order):
        sys.exit("prove: runs of karmada-search can be repeated, but not made smaller or done in a given order")
    if options.shrink:
        return int(shrink(proof, path, run))
    flags = [] if options.search else ["--keep", *([f"--order={options.order.resolve()}"] if options.order else [])]
    worker = proof.worker(path, flags)
    result = worker.run(run)
    print(json.dumps(result, indent=1) if result else worker.error())
    print(f"logs: {worker.directory}")
    if result and (order := pathlib.Path(result.get("logs", "")) / "order").exists():
        print(f"order: {order}")
    if result and (result.get("orderMissed") or result.get("orderUnknown")):
        print(f"not the same run: {len(result['orderMissed'])} lines of its order did not come, {len(result['orderUnknown'])} others did")
    worker.end()
    return int(not result or bool(result["violations"]))


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
    parser.add_argument("--shrink", action="store_true", help="with --repeat: make the workload of the failing run smaller")
    parser.add_argument("--order", type=pathlib.Path, metavar="FILE", help="with --repeat: deliver events in the order that a run has written")
    parser.add_argument("--workload-file", type=pathlib.Path, metavar="FILE", help="with --repeat: the workload")
    parser.add_argument("--real-time", action="store_true",
                        help="for a program that does not use the C library, as one written in Go; without an election")
    parser.add_argument("--program", type=pathlib.Path, metavar="FILE", help="another controller manager, which gets the same flags")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    known = search.CLASSES if options.search else CLASSES
    options.classes = [name for name in options.classes or known if name in known]
    if options.agent:
        options.classes = [name for name in options.classes if name not in NOT_OF_AGENTS["classes"]]
    proof = Proof(options)
    if options.repeat:
        return repeat(proof)
    paths = workloads(options.names, options.classes, options.seed, options.search)
    proof.all([path for path in paths if not options.agent or path.stem not in NOT_OF_AGENTS["workloads"]])
    rows = table(proof.journal.done.values())
    failed = [entry for entry in proof.journal.done.values() if entry["violations"]]
    if options.output == "json":
        print(json.dumps({"classes": rows, "left": proof.left, "failed": failed}, indent=1))
    else:
        print_table(rows)
        for entry in failed:
            print(f"again: {proof.again(entry['workload'], entry['run'])}")
        if proof.left:
            print(f"left for want of time: {sum(proof.left.values())} runs of {len(proof.left)} workloads")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
