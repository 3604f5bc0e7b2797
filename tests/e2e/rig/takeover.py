"""Our daemon takes upstream's place on a plane with settled templates, and gives it back."""

import time

from . import paths, scenario, snapshot
from .daemon import Daemon
from .replay import check_recording
from .suite import PlaneCase

_QUIET_SECONDS = 12  # More than a round of cluster status.
# A restart of upstream rolls out what otherwise waits with it for an edit: lazy policies, and templates without a policy.
_UPSTREAM_CATCHES_UP = {"policy-lazy", "policy-lifecycle", "policy-priority", "duplicated-mixed-kinds"}


class TakeOverCase(PlaneCase):
    """Scenarios are begun under upstream, go on with our daemon, and end under upstream again."""

    def setUp(self):
        self.daemon = None
        self.upstream_writes = set()
        self.addCleanup(lambda: self.daemon and self.daemon.stop())

    def take_over(self, scenarios, ours_after, upstream_after):
        """Exchanges the controller manager after those steps. Restarting upstream first shows what it writes then."""
        self.start("upstream")
        self.plane.wait_members_ready()
        self.assertFalse(scenario.clean_up(self.plane))

        def after_step(number):
            if number == ours_after:
                self.upstream_writes = {_place(change) for change in self.exchange("upstream")}
                self.check_nothing_written("ours takes over", self.exchange("ours"))
            if number == upstream_after:
                written = self.exchange("upstream")
                catching_up = [one for one in scenarios if one.name in _UPSTREAM_CATCHES_UP]
                self.check_nothing_written("upstream takes over", [
                    change for change in written
                    if _place(change) not in self.upstream_writes and not _is_the_same(change)
                    and not any(one.owns_name(name) for one in catching_up for name in change[0].split("/")[2:])])
                return "stop"
            return None
        try:
            states = scenario.run(self.plane, scenarios, lambda line: print(line, flush=True), after_step)
        finally:
            self.daemon.stop()
            self.start("ours")  # Upstream leaves Works behind whose objects are to be preserved and have gone.
            left = scenario.clean_up(self.plane)
        for one in scenarios:
            if one.name == "policy-lazy":  # Upstream's restart has done what its next steps are about.
                continue
            with self.subTest(f"{one.name} goes on with ours"):
                later = {title: state for title, state in states[one.name].items()
                         if int(title.split()[0]) > ours_after}
                check_recording(self, one, later)
        self.assertEqual(sorted(left), [], "left behind after everything was deleted")

    def start(self, whose):
        exe = paths.DAEMON if whose == "ours" else self.plane.testbed.exe("upstream-controller-manager")
        flags = scenario.FLAGS + ([] if whose == "ours" else scenario.UPSTREAM_FLAGS)
        self.daemon = Daemon(self.plane, exe, name=f"takeover-{whose}", flags=flags)
        self.daemon.wait_healthy()

    def exchange(self, whose):
        """Stops the controller manager and starts another one; returns what has been written until all is quiet."""
        self.daemon.stop()
        before = snapshot.take(self.plane)
        self.start(whose)
        changes, since, end = None, time.monotonic(), time.monotonic() + 120
        while time.monotonic() < min(since + _QUIET_SECONDS, end):
            now = snapshot.changes(before, snapshot.take(self.plane))
            if now != changes:
                changes, since = now, time.monotonic()
            time.sleep(1)
        places = sorted({" ".join(_place(change)) for change in changes})
        print(f"  {whose} started: {len(before)} objects, {len(changes)} changes"
              + "".join(f"\n    {place}" for place in places), flush=True)
        return changes

    def check_nothing_written(self, what, changes):
        with self.subTest(what):
            if changes:
                self.fail(f"{len(changes)} changes:\n" + "\n".join(map(_describe, changes[:60])))


def _place(change):
    """The kind of object and the field of a change, without the names in them."""
    cluster, resource = change[0].split("/")[:2]
    return "host" if cluster == "host" else "member", resource, change[1]


def _is_the_same(change):
    """A field that was written and put back, as upstream does while its caches fill, or clusters in another order: the
    scheduler, which looks at each binding that upstream writes, keeps none."""
    _, field, old, new = change
    in_another_order = field == "spec.clusters" and sorted(map(str, old or [])) == sorted(map(str, new or []))
    return field == "metadata.resourceVersion" or in_another_order


def _describe(change):
    key, field, old, new = change
    return f"{key}: {field}" + (f": {str(old)[:200]} -> {str(new)[:200]}" if (old, new) != (None, None) else "")
