"""Makes the workload of a failing run as small as it can be while the run still fails.

    small = smallest(elements, fails)      # Delta debugging over any list.
    shrink(proof, path, run) -> the path of the smallest workload, and the name of the run that fails with it

Left out are perturbations of the run, then steps, then single objects, patches and targets of steps. A candidate fails when its
references agree and the perturbations, which strike at the place that is theirs in it, end with a violation of the same sort
as those of the whole run. What its `end` promises is not looked at, unless that is what fails.
"""

import copy
import itertools
import pathlib
import re
import shutil
import tempfile
import zlib

import yaml

from classes import AFTER_PAUSE, RUNS, Scope, class_of, parts_of
from worker import OutOfTime

# What a step does; the rest of it says when, where and how long.
ACTIONS = ("heal", "apply", "delete", "patch", "unjoin", "join", "partition")
AT_A_WRITE = re.compile(r"(crash before|crash after|crash twice|answer lost|answer cut) (\d+)\.(\d+)(.*)")
AT_A_CALL = re.compile(r"(webhook \S+ \d+) (\d+)\.(\d+) (.*)")
OF_A_CLASS = re.compile(r"(error \d+ \d+|late timeout \d+|unread \d+) (\d+) (.*)")
OF_AN_AGE = re.compile(r"((?:stale|reconnect) \S+) (\d+) (\d+)")
OVER_STEPS = re.compile(r"(merged \S+) (\d+) (\d+)")
IN_A_STEP = re.compile(r"(late \S+|order \S+ \S+) (\d+)")
MOST_TIMES = 3  # That a run is tried which does not always fail.
MOST_PLACES = 6  # Where a perturbation that counts writes is tried in one candidate.


# ---- The algorithm ----------------------------------------------------------------------------------


def smallest(elements, fails):
    """
    A part of a list of which no element and no piece that was tried can be left out without `fails` holding no more. What `fails`
    refuses for another reason counts as not failing. REQUIRES: fails(elements).
    """
    elements = list(elements)
    pieces = 2
    while elements:
        pieces = min(pieces, len(elements))
        length = -(-len(elements) // pieces)
        for at in range(0, len(elements), length):
            rest = elements[:at] + elements[at + length:]
            if fails(rest):
                elements, pieces = rest, max(pieces - 1, 2)
                break
        else:
            if length == 1:
                break
            pieces *= 2
    return elements


# ---- What can be left out of a workload --------------------------------------------------------------


def steps_of(content):
    return content if isinstance(content, list) else content["steps"]


def listed(value):
    return value if isinstance(value, list) else [value]


def items_of(content):
    """[(step, field, number)] of all that steps do, and of all places where they do it."""
    return [(index, field, number) for index, step in enumerate(steps_of(content)) for field in (*ACTIONS, "on") if field in step
            for number in range(len(listed(step[field]))) if field != "on" or len(listed(step[field])) > 1]


def without_items(content, kept):
    """The workload with these items alone."""
    content = copy.deepcopy(content)
    fields = {item[:2] for item in items_of(content)}
    for index, step in enumerate(steps_of(content)):
        for field in [name for name in (*ACTIONS, "on") if (index, name) in fields]:
            step[field] = [each for number, each in enumerate(listed(step[field])) if (index, field, number) in kept]
            if not step[field]:
                # Without a place there is nothing to do, where no place is mentioned it is done in the control plane.
                for gone in ("apply", "delete", "patch", "on") if field == "on" else (field,):
                    step.pop(gone, None)
    return content


def with_steps(content, kept):
    """The workload with these steps alone, by their indices."""
    content = copy.deepcopy(content)
    steps = [steps_of(content)[index] for index in kept]
    if isinstance(content, list):
        return steps
    return {**{name: value for name, value in content.items() if name != "define"}, "steps": steps}


# ---- Where perturbations strike in a smaller workload ------------------------------------------------


def numbers_like(texts, wanted, number):
    """The numbers (from 1) of the texts that are as `wanted`, those near to `number` first."""
    found = [at for at, text in enumerate(texts, 1) if text.removesuffix(AFTER_PAUSE) == wanted]
    return sorted(found, key=lambda at: abs(at - number))[:MOST_PLACES]


def moved(part, steps, before, after):
    """
    The names that a perturbation may have in a smaller workload; none when its step was left out. `steps` maps the numbers of steps;
    `before` and `after` are the references.
    """
    if match := AT_A_WRITE.fullmatch(part):
        what, step, number, rest = match[1], int(match[2]), int(match[3]), match[4]
        if step not in steps:
            return []
        writes = before["writesOfStep"][step]
        if number > len(writes):
            return []
        numbers = numbers_like(after["writesOfStep"][steps[step]], writes[number - 1].removesuffix(AFTER_PAUSE), number)
        return [f"{what} {steps[step]}.{at}{rest}" for at in numbers]
    if match := AT_A_CALL.fullmatch(part):
        step = steps.get(int(match[2]))
        calls = after["callsOfStep"][step].count(match[4]) if step is not None else 0
        numbers = sorted(range(1, calls + 1), key=lambda at: abs(at - int(match[3])))[:MOST_PLACES]
        return [f"{match[1]} {step}.{at} {match[4]}" for at in numbers]
    if match := OF_A_CLASS.fullmatch(part):
        return [f"{match[1]} {steps[int(match[2])]} {match[3]}"] if int(match[2]) in steps else []
    if match := IN_A_STEP.fullmatch(part):
        return [f"{match[1]} {steps[int(match[2])]}"] if int(match[2]) in steps else []
    if match := OVER_STEPS.fullmatch(part):
        left = [steps[step] for step in range(int(match[2]), int(match[3]) + 1) if step in steps]
        return [f"{match[1]} {left[0]} {left[-1]}"] if left else []
    if match := OF_AN_AGE.fullmatch(part):
        start = f"{match[1]} {steps.get(int(match[2]))} "
        names = [one.name for one in RUNS["stale"](after, Scope("1", match[1].split()[1])) if one.name.startswith(start)]
        return sorted(names, key=lambda name: abs(int(name.split()[-1]) - int(match[3])))[:MOST_PLACES]
    return [part]  # It has no step.


def names_in(parts, steps, before, after):
    """The names of runs that are this one in a smaller workload."""
    places = [moved(part, steps, before, after) for part in parts]
    return [" & ".join(names) for names in itertools.islice(itertools.product(*places), MOST_PLACES)]


# ---- Shrinking a run --------------------------------------------------------------------------------


def sorts_of(violations):
    """What sort of violations these are: "after step", "written at a restart"."""
    return {re.sub(r"\d+", "", line.split(":")[0]).strip() for line in violations}


class Shrinking:
    """One run that is made smaller; what is the smallest so far, with what was found out about it."""

    def __init__(self, proof, path, parts):
        self._proof, self._name = proof, path.stem
        self._content = yaml.safe_load(path.read_text())
        self._parts = parts
        self._steps = list(range(len(steps_of(self._content))))
        self._tried = {}
        self._before = self._sorts = None
        self._times = 1  # How often a candidate is tried.
        self.run = self.text = None
        self.violations = []

    def fails_at_all(self):
        """Tries the whole run. One that does not always fail is tried more than once from then on."""
        for _ in range(MOST_TIMES):
            self._tried.clear()
            if self._fails(self._parts, self._steps, self._content):
                return True
            self._times = MOST_TIMES
        return False

    def all(self):
        """Leaves out what can be. REQUIRES: fails_at_all()."""
        self._parts = smallest(self._parts, lambda parts: bool(parts) and self._fails(parts, self._steps, self._content))
        if isinstance(self._content, dict) and "at the end" not in self._sorts:
            self._content.pop("end", None)
        size = None
        while size != (size := len(self._steps) + len(items_of(self._content))):
            self._steps = smallest(self._steps, lambda steps: bool(steps) and self._fails(self._parts, steps, self._content))
            kept = [item for item in items_of(self._content) if item[0] in self._steps]
            kept = smallest(kept, lambda items: self._fails(self._parts, self._steps, without_items(self._content, set(items))))
            self._content = without_items(self._content, set(kept))

    def _fails(self, parts, steps, content):
        """Whether this candidate fails; then it is the smallest so far."""
        smaller = with_steps(content, steps)
        text = yaml.safe_dump(smaller, sort_keys=False, allow_unicode=True, width=140)
        key = (text, tuple(parts))
        if key not in self._tried:
            self._tried[key] = self._try(parts, {0: 0, **{step + 1: at + 1 for at, step in enumerate(steps)}}, text)
            found = self._tried[key]
            self._proof.say(f"  {len(parts)} perturbations, {len(steps)} steps, {len(items_of(smaller))} objects and places: "
                            f"{'fails' if found else 'does not'}")
            if found:
                self.text, (self.run, self.violations) = text, found
        return bool(self._tried[key])

    def _try(self, parts, steps, text):
        """(run, violations) of a candidate that fails; None for one that does not, or whose references do not agree."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / f"{self._name}.yaml"
            path.write_text(text)
            worker = self._proof.worker(path)
            try:
                return self._with(worker, parts, steps)
            finally:
                worker.end()
                shutil.rmtree(worker.directory, ignore_errors=True)

    def _with(self, worker, parts, steps):
        after = worker.reference
        if after is None or after["failure"] or after["violations"]:
            return None
        self._before = self._before or after
        for name in names_in(parts, steps, self._before, after) * self._times:
            violations = self._counted(name, worker.run(name))
            if violations and self._agrees(worker):
                self._sorts = self._sorts or sorts_of(violations)
                return name, violations
        return None

    def _counted(self, name, result):
        if result is None:
            return []
        violations = self._proof.exceptions.without(self._name, name, result["violations"])
        return violations if self._sorts is None or self._sorts & sorts_of(violations) else []

    @staticmethod
    def _agrees(worker):
        """Whether what fails is the perturbation's doing, and not chance's."""
        again = worker.run("reference")
        return again is not None and all(line.startswith("warns: ") for line in again["violations"])


def shrink(proof, path, run):
    """Prints the smallest workload with which the run fails, and how to repeat it; returns whether it fails at all."""
    if class_of(run) in ("values", "election"):
        proof.say(f"prove: a run of the class {class_of(run)} is not made smaller")
        return False
    shrinking = Shrinking(proof, path, parts_of(run))
    try:
        if not shrinking.fails_at_all():
            proof.say("prove: it does not fail, so there is nothing to make smaller")
            return False
        shrinking.all()
    except OutOfTime:
        if shrinking.run is None:
            raise
        proof.say("prove: the time is over; something more might be left out")
    proof.say("\n".join(f"    {line}" for line in shrinking.violations[:8]))
    kept = proof.logs / f"{path.stem}-{zlib.crc32(run.encode()):08x}" / f"{path.stem}.yaml"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(shrinking.text)
    proof.say(f"smallest: {kept}")
    proof.say(f"again: {proof.again(path.stem, shrinking.run)} --workload-file {kept}")
    return True
