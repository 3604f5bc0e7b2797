"""Which perturbations of karmada-search there are, by what the reference has done: (name, first step, last step)."""

CLASSES = ("crash", "cut", "merged", "order", "stale", "member")
START = 0  # The step in which karmada-search starts. It is the same for all workloads.
MEMBERS = ("member1", "member2")


def spread(count, first, factor):
    """Numbers up to `count`: the first ones all, then fewer and fewer, because most later requests are the same question again."""
    numbers, at = list(range(1, min(count, first) + 1)), float(first)
    while (at := at * factor) < count:
        numbers.append(int(at))
    return numbers


def crash(steps, is_mine):
    """At each event; at requests and answers, of which the first ones differ and later ones repeat them."""
    for step, counts in enumerate(steps):
        if step == START and not is_mine("start"):
            continue
        first, factor = (20, 1.5) if step == START else (6, 1.7)
        for what in ("request", "answer"):
            for number in spread(counts[f"{what}s"], first, factor):
                yield f"crash {what} {step}.{number}", step, step
        for number in range(1, sum(counts["events"].values()) + 1):
            yield f"crash event {step}.{number}", step, step


def cut(steps, is_mine):
    """Behind and within each event. A member's watch does not know of the other one's."""
    for step, counts in enumerate(steps):
        for member, count in counts["events"].items():
            for number in range(1, count + 1):
                yield f"cut after {member} {step}.{number}", step, step
                yield f"cut within {member} {step}.{number}", step, step


def whose(counts):
    """The members that change in a step; and both, if they do."""
    changed = [member for member in MEMBERS if counts["changes"].get(member)]
    return changed + (["all"] if len(changed) > 1 else [])


def merged(steps, is_mine):
    for step, counts in enumerate(steps):
        for member in whose(counts):
            yield f"merged {member} {step} {step}", step, step
            if step + 1 < len(steps) and whose(steps[step + 1]):
                yield f"merged {member} {step} {step + 1}", step, step + 1


def order(steps, is_mine):
    for step, counts in enumerate(steps):
        for member in whose(counts):
            yield f"late {member} {step}", step, step


def stale(steps, is_mine):
    """Old by one change, by half of the step, by the step, by the one before, too."""
    for step, counts in enumerate(steps):
        for member in whose(counts):
            changes = max(counts["changes"].values())
            before = max(steps[step - 1]["changes"].values(), default=0)
            for age in sorted({1, (changes + 1) // 2, changes, changes + before}):
                yield f"stale {member} {step} {age}", step, step
                yield f"reconnect {member} {step} {age}", step, step


def member(steps, is_mine):
    """After each change of the step a member goes back, or loses its history; it is away from the first, the middle or the last one on."""
    for step, counts in enumerate(steps):
        changes = sum(counts["changes"].values())
        for name in whose(counts):
            for number in sorted({0, changes // 2, changes}):
                yield f"away {name} {step} {number}", step, step
            for number in range(1, changes + 1):
                yield f"restored {name} {step} {number}", step, step
                yield f"emptied {name} {step} {number}", step, step


RUNS = {"crash": crash, "cut": cut, "merged": merged, "order": order, "stale": stale, "member": member}
