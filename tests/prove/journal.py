"""What was done: the journal of all runs, what of it an exception explains, and the table."""

import json
import pathlib
import re
import sys
import threading

import yaml

from classes import class_of, parts_of

HERE = pathlib.Path(__file__).resolve().parent


def is_value(entry):
    return class_of(entry["run"]) == "values"


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
    """
    What was done: one line of JSON for each run, in the order of their ends. What has failed counts as not done when it is read
    again, unless an exception explains it by now: it is done again, because it may be mended.
    """

    def __init__(self, path, exceptions):
        self.path = path
        self.done = {}
        self.parts = set()  # Of all runs: (workload, perturbation).
        if path and path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                left = exceptions.without(entry["workload"], entry["run"], entry["violations"])
                if not left:
                    self._note(entry | {"violations": [], "excepted": entry["excepted"] or bool(entry["violations"])})
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


def print_table(rows):
    print(f"\n{'class':<12}{'perturbations':>14}{'runs':>8}{'seconds':>10}{'CPU':>8}{'failed':>8}{'excepted':>10}{'in vain':>9}{'refused':>9}")
    for name, row in rows.items():
        print(f"{name:<12}{row['perturbations']:>14}{row['runs']:>8}{row['seconds']:>10.0f}{row['cpu']:>8.0f}{row['failed']:>8}{row['excepted']:>10}{row['in vain']:>9}"
              f"{row['refused']:>9}")
