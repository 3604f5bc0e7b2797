"""The process that runs one workload again and again (worker_main.cc)."""

import json
import pathlib
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEEDS = HERE / "values" / "seeds"
SEARCH_WORKLOADS = HERE / "search" / "workloads"
LONGEST_RUN = 900  # Seconds of real time: on a machine that has much else to do.


class OutOfTime(Exception):
    """What was begun could not be finished in the time that there is."""


def is_seed(path):
    return path.parent == SEEDS


def is_of_search(path):
    return path.parent == SEARCH_WORKLOADS


class Worker:
    """The process that runs one workload (worker_main.cc)."""

    def __init__(self, build, workload, command, logs, until=float("inf"), flags=()):
        self._until = until
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{workload.stem}-", dir=logs))
        self._errors = open(self.directory / "worker.log", "w")
        self._process = subprocess.Popen(
            [(ROOT / build) / "bin" / ("prove_search_worker" if is_of_search(workload) else "prove_worker"),
             f"--{'seed' if is_seed(workload) else 'workload'}={workload}",
             f"--directory={self.directory}", *flags, "--", *command],
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
