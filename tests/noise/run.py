#!/usr/bin/env python3
"""Runs the tests while their threads are held up at random and lack a core (README.md).

    run.py [--build build/release] [--seconds 900] [--seeds 20 | --seed N] [--jobs N] [--lanes N] [SUITE...]

Each suite is a test of ctest whose program has test cases; without names, all of them. Every core has some suites at a
time, which hold one another up; one that is alone on its core has a process beside it that takes half of the core. With
each seed all suites run once, those first that take longest; no suite begins that would not end within the time, by how
long it took before, in this run or in an earlier one. Closes with what failed, with the command that runs it again.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import run_ctest  # noqa: E402  (the path has to be set first)

LONGEST = 1800  # Seconds that a suite may take.


@dataclasses.dataclass
class Suite:
    name: str
    command: list[str]
    took: float = 0  # Seconds, in its last run.


@dataclasses.dataclass
class Failure:
    suite: Suite
    seed: int
    log: pathlib.Path
    why: str


def suites_of(build, names):
    listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=ROOT / build, check=True,
                                       capture_output=True).stdout)
    found = [Suite(test["name"], test["command"]) for test in listed["tests"]
             if test.get("command") and test["command"][0].endswith("_test")]
    unknown = set(names) - {suite.name for suite in found}
    if unknown:
        sys.exit(f"noise: there is no suite {', '.join(sorted(unknown))}; there are: {' '.join(s.name for s in found)}")
    return [suite for suite in found if not names or suite.name in names]


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Core:
    """One core. While one suite alone runs on it, a process of ours takes what it can get of it as well."""

    def __init__(self, number):
        self.number = number
        self._lock = threading.Lock()
        self._suites = 0
        self._hog = None

    def __enter__(self):
        self._count(1)

    def __exit__(self, *_):
        self._count(-1)

    def _count(self, more):
        with self._lock:
            self._suites += more
            if self._suites == 1 and not self._hog:
                self._hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                os.sched_setaffinity(self._hog.pid, {self.number})
            elif self._suites != 1 and self._hog:
                self._hog.kill()
                self._hog.wait()
                self._hog = None


class Noise:
    def __init__(self, build, deadline):
        self.build, self.deadline = build, deadline
        self.library = ROOT / build / "tests" / "libkm_noise.so"
        self.logs = ROOT / build / "noise"
        self.failures, self.left_out = [], []
        self._say = threading.Lock()
        self._running = set()
        self.stopped = False
        if not self.library.exists():
            sys.exit(f"noise: {self.library} is missing: make noise builds it")
        self.logs.mkdir(exist_ok=True)
        self._times = self.logs / "times.json"

    def recall(self, suites):
        """Notes how long the suites took in an earlier run, and returns them with the longest first."""
        times = json.loads(self._times.read_text()) if self._times.exists() else {}
        for suite in suites:
            suite.took = times.get(suite.name, 0)
        return sorted(suites, key=lambda suite: -suite.took)

    def remember(self, suites):
        times = json.loads(self._times.read_text()) if self._times.exists() else {}
        self._times.write_text(json.dumps(times | {suite.name: round(suite.took, 1) for suite in suites if suite.took}))

    def environment(self, suite, seed):
        return {"NOISE_SEED": str(seed), "LD_PRELOAD": str(self.library),
                "NOISE_COUNTS": str(self.logs / f"{suite.name}.{seed}.counts"),
                "TEST_LOG": str(self.logs / f"{suite.name}.{seed}.case"),
                "BEHAVIOUR_KEPT_LOG": str(self.logs / f"{suite.name}.{seed}.daemon")}

    def held_up(self, suite, seed):
        """Says how often the processes of a suite have slept, and for how long all their threads together."""
        counts = self.logs / f"{suite.name}.{seed}.counts"
        text = counts.read_text() if counts.exists() else ""
        counts.unlink(missing_ok=True)
        found = [(int(sleeps), int(slept)) for sleeps, slept in re.findall(r"sleeps=(\d+) slept_ms=(\d+)", text)]
        return f"{sum(sleeps for sleeps, _ in found)} sleeps, {sum(slept for _, slept in found) / 1000:.1f} s"

    def run(self, suite, seed, core):
        """Runs a suite on this core and notes what came of it."""
        log = self.logs / f"{suite.name}.{seed}.log"
        began = time.monotonic()
        with open(log, "w") as output:
            process = subprocess.Popen(["taskset", "-c", str(core.number), *suite.command], cwd=ROOT, stdout=output,
                                       stderr=subprocess.STDOUT, env=os.environ | self.environment(suite, seed), start_new_session=True)
            self._running.add(process.pid)
            if self.stopped:
                kill_group(process.pid)
            try:
                status = process.wait(LONGEST)
                why = "" if status == 0 else f"ended with {status}"
            except subprocess.TimeoutExpired:
                why = f"did not end within {LONGEST} s"
            kill_group(process.pid)  # What it has started must not outlive it.
            process.wait()
            self._running.discard(process.pid)
        if self.stopped:
            return
        suite.took = time.monotonic() - began
        if why:
            self.failures.append(Failure(suite, seed, log, why))
        else:
            log.unlink()
            for suffix in (".case", ".daemon"):
                log.with_suffix(suffix).unlink(missing_ok=True)
        with self._say:
            print(f"{'FAILED' if why else 'ok':7} {suite.took:6.1f} s  {suite.name}, seed {seed} ({self.held_up(suite, seed)})", flush=True)

    def stop(self):
        """Ends what runs, and begins nothing more."""
        self.stopped = True
        for group in list(self._running):
            kill_group(group)

    def serve(self, core, waiting):
        """Runs what waits, one after the other on this core, until nothing is left."""
        while not self.stopped:
            try:
                suite, seed = waiting.get_nowait()
            except queue.Empty:
                return
            if time.monotonic() + suite.took > self.deadline:
                self.left_out.append(f"{suite.name}, seed {seed}")
            else:
                with core:
                    self.run(suite, seed, core)

    def again(self, failure):
        """The commands that run a failure again."""
        words = [f"NOISE_SEED={failure.seed}", f"LD_PRELOAD={self.library.relative_to(ROOT)}", "taskset -c 0"]
        program = run_ctest.program_of(failure.suite.command)
        cases = sorted(set(run_ctest.FAILED_CASE.findall(failure.log.read_text(errors="replace"))))
        arguments = [run_ctest.pattern_of(case) for case in cases] or failure.suite.command[1:]
        return [" ".join([*words, str(program), argument]) for argument in arguments or [""]]

    def report(self, seeds):
        for failure in self.failures:
            print(f"\n== {failure.suite.name}, seed {failure.seed}, {failure.why}: {failure.log.relative_to(ROOT)}")
            daemons = failure.log.with_suffix(".daemon")
            if daemons.exists():
                print(f"What its controller managers logged: {daemons.relative_to(ROOT)}")
            print("".join(failure.log.read_text(errors="replace").splitlines(keepends=True)[-80:]))
        passes = f"{len(seeds)} seeds, {len(self.left_out)} runs left out for lack of time"
        if not self.failures:
            print(f"noise: nothing failed; {passes}")
            return
        print(f"noise: {len(self.failures)} failed; {passes}. To run them again:")
        for failure in self.failures:
            for line in self.again(failure):
                print(f"  {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--seeds", type=int, default=20, help="the seeds 1 to this one")
    parser.add_argument("--seed", type=int, action="append", help="this seed alone; may be repeated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="use at most so many cores")
    parser.add_argument("--lanes", type=int, default=3, help="run at most so many suites on each core at a time")
    parser.add_argument("suites", nargs="*")
    flags = parser.parse_args()
    noise = Noise(flags.build, time.monotonic() + flags.seconds)
    suites = noise.recall(suites_of(flags.build, flags.suites))
    seeds = flags.seed or list(range(1, flags.seeds + 1))
    waiting = queue.Queue()
    for seed in seeds:
        for suite in suites:
            waiting.put((suite, seed))
    cores = [Core(number) for number in sorted(os.sched_getaffinity(0))[:max(1, flags.jobs)]]
    threads = [threading.Thread(target=noise.serve, args=(core, waiting)) for _ in range(flags.lanes) for core in cores]
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: noise.stop())
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    noise.remember(suites)
    noise.report(seeds)
    if noise.stopped:
        return 130
    return 1 if noise.failures else 0


if __name__ == "__main__":
    sys.exit(main())
