"""Our daemon takes upstream's place on a plane with settled templates, and gives it back.

What a controller manager does is judged twice at each exchange: by the objects, which are compared before and after, and
by its requests, which the audit logs of all API servers have, so that a write that changes nothing counts as well.
"""

import re
import time
from collections import Counter

from . import paths, recording, scenario, snapshot, template_classes
from .audit import Audit
from .daemon import USER, Daemon
from .plane import HOST
from .process import wait_until
from .replay import check_recording
from .suite import PlaneCase

_QUIET_SECONDS = 12  # More than a round of cluster status.
# What upstream writes at a restart differs from time to time: it is restarted so often before a kind of write counts as one
# that its restarts do not make.
_RESTARTS = 4
# A restart of upstream rolls out what otherwise waits with it for an edit: lazy policies, templates without a policy, and
# templates whose bindings may not be updated because of a quota.
_UPSTREAM_CATCHES_UP = {"dependent-overrides", "policy-lazy", "policy-lifecycle", "policy-priority",
                        "duplicated-mixed-kinds", "quota-overall"}
# An autoscaler that runs in a member changes its status every 15 seconds as it likes.
_MEMBERS_GO_ON = {"autoscaled-in-members"}
# The sums over the pods of the members follow: fields of Clusters, and how they are written.
_SUMS, _WRITE_OF_SUMS = "status.resourceSummary.", "host/clusters/status/"
_LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-controller-manager"
# As `karmadactl join` makes it in members.
_MEMBER_USER = "system:serviceaccount:karmada-cluster:karmada-"
_OUR_AGENT = "karmada-controller-manager/"
# The loops that look at each object of a kind when they start.
_LOOPS = {"binding-controller": "ResourceBinding", "cluster-resource-binding-controller": "ClusterResourceBinding",
          "execution-controller": "Work"}
_PROBE = "s-takeover-probe"
# What our first pass mends in what upstream has left, as docs/differences.md says, and what upstream undoes: objects, and
# their fields.
_WE_MEND = [
    (re.compile(r"host/resourcebindings/s-claimed/"), re.compile(r"metadata\.\w+\.propagationpolicy\.karmada\.io/")),
    (re.compile(r"host/services/[^/]+/derived-"), re.compile(r"metadata\.ownerReferences$")),
    (re.compile(r"host/statefulsets/"), re.compile(r"status\.observedGeneration$")),
    (re.compile(r"host/deployments/"), re.compile(r"status\.conditions$")),
]
_CONDITIONS_OF_DEPLOYMENTS = ["Available", "Progressing"]
# The namespaces of the behaviour tests, which have used the plane before and leave broken templates in them that every
# controller manager tries again and again.
_LEFT_BEHIND = re.compile(r"(^|/)[a-z-]+-\d+-\d+(/|$)")


class Writes:
    """The requests of controller managers that would change something, in the control plane and in the members."""

    def __init__(self, plane):
        self._audits = {cluster: Audit(plane, cluster) for cluster in [HOST, *plane.members]}

    def rewind(self):
        """Forgets what has been written so far."""
        for audit in self._audits.values():
            audit.rewind()

    def all(self):
        """[(cluster, Write)] of every write."""
        return [(cluster, write) for cluster, audit in self._audits.items() for write in audit.writes()
                if (write.user == USER if cluster == HOST else write.user.startswith(_MEMBER_USER))]

    def essential(self):
        """Those that are neither of a lease nor an event, nor about what other tests have left behind."""
        return [(cluster, write) for cluster, write in self.all()
                if write.resource not in ("leases", "events") and not _LEFT_BEHIND.search(write.name)]

    def accepted(self):
        """Those of the essential ones that the server has carried out."""
        return [(cluster, write) for cluster, write in self.essential() if write.code < 400]

    def kinds(self):
        """How many of each kind there are: Counter of (host or member, verb, resource)."""
        return Counter(_kind(pair) for pair in self.essential())


class TakeOverCase(PlaneCase):
    """Scenarios are begun under upstream, go on with our daemon, and end under upstream again."""

    flags = scenario.FLAGS

    def setUp(self):
        self.daemon = None
        self.addCleanup(lambda: self.daemon and self.daemon.stop())

    def take_over(self, scenarios, ours_after, upstream_after, needs):
        """Exchanges the controller manager after those steps. `needs` says how many templates of which class have to be
        propagated at both exchanges. Restarting upstream first shows what it writes at a restart of its own."""
        self.writes, self.usual_changes, self.usual_writes = Writes(self.plane), set(), Counter()
        self.host.delete(_LEASE)
        self.start("upstream")
        self.plane.wait_members_ready()
        self.assertFalse(scenario.clean_up(self.plane))

        def after_step(number):
            if number == ours_after:
                self.check_classes("ours takes over", needs)
                self.note_restart_of_upstream()
                self.take_over_once()
            if number == upstream_after:
                self.check_classes("upstream takes over", needs)
                self.give_back(scenarios)
                return "stop"
            return None
        try:
            outcomes = scenario.run(self.plane, scenarios, lambda line: print(line, flush=True), after_step)
        finally:
            self.daemon.stop()
            self.start("ours")  # Upstream leaves Works behind whose objects are to be preserved and have gone.
            left = scenario.clean_up(self.plane)
        self.check_states(scenarios, outcomes, ours_after + 1, upstream_after)
        self.assertEqual(sorted(left), [], "left behind after everything was deleted")

    def check_classes(self, when, needs):
        """Fails the test if there are fewer templates of a class than the test is to be about."""
        present = template_classes.present(recording.read(self.plane))
        print(f"  {when}: " + ", ".join(f"{len(keys)} {name}" for name, keys in sorted(present.items())), flush=True)
        few = {name: len(present.get(name, ())) for name, count in needs.items() if len(present.get(name, ())) < count}
        with self.subTest(f"{when}: every class of template is there"):
            self.assertEqual(few, {}, f"fewer than needed: {needs}")

    def take_over_once(self):
        """Upstream's place is taken: nothing is written but what we mend, although everything has been looked at and can be
        written."""
        changes = self.exchange("ours")
        mended = {change[0] for change in changes if _we_mend(change)}
        with self.subTest("ours takes over and changes no object"):
            self.check_no_changes([change for change in changes if not _we_mend(change)])
        with self.subTest("ours takes over and sends no write but those of leases and events"):
            others = [pair for pair in self.writes.essential() if _object_of(pair) not in mended]
            self.assertEqual(list(map(_text, others))[:60], [])
            self.assertLessEqual(len(self.writes.essential()), len(mended), "one write mends an object")
        with self.subTest("ours was at work"):
            self.check_at_work()

    def check_at_work(self):
        """The loops have looked at every object, and an edit goes the whole way to every member, by our hands."""
        objects = recording.read(self.plane)
        for loop, kind in _LOOPS.items():
            count = sum(key.startswith(f"{HOST}/{kind}/") for key in objects)
            self.assertGreaterEqual(self.daemon.value("controller_runtime_reconcile_total", controller=loop), count, loop)
        self.writes.rewind()
        self.host.apply(_probe(self.plane.members))
        path = f"/api/v1/namespaces/{_PROBE}/configmaps/probe"
        for member in self.plane.members:
            self.wait(f"the probe in {member}", lambda member=member: self.plane.kube(member).find(path), 60)
        _, moving = scenario.settle(self.plane, 60)
        self.assertEqual(sorted(moving), [])
        written = self.writes.all()
        by_us = {cluster for cluster, write in written if write.agent.startswith(_OUR_AGENT) and _PROBE in write.name
                 and write.code < 300}
        self.assertEqual(by_us, {HOST, *self.plane.members}, "the audit logs have our writes")
        others = {write.agent for _, write in written if not write.agent.startswith(_OUR_AGENT)}
        self.assertEqual(others, set(), "somebody else writes as the controller manager")

    def give_back(self, scenarios):
        """Upstream takes its place again: it writes only kinds of things that it writes when it is restarted, on the state
        that it has left to us or on the one that it finds."""
        catching_up = [one for one in scenarios if one.name in _UPSTREAM_CATCHES_UP | _MEMBERS_GO_ON]
        works = _works_of(catching_up, self.plane)
        changes, writes = self.exchange("upstream"), self.writes.essential()
        works |= _works_of(catching_up, self.plane)

        def catches_up(namespace, name):
            return (namespace, name) in works or any(one.owns_name(namespace) or one.owns_name(name)
                                                     for one in catching_up)

        def unusual():
            return ([change for change in changes
                     if _place(change) not in self.usual_changes and not _is_the_same(change)
                     and not _we_mend(change) and not _is_a_sum(change)
                     and not catches_up(*change[0].split("/")[2:])],
                    [_text(pair) for pair in writes if _kind(pair) not in self.usual_writes
                     and not _key(pair).startswith(_WRITE_OF_SUMS) and not catches_up(*pair[1].name.split("/"))])
        for _ in range(_RESTARTS):
            self.note_restart_of_upstream()
            if not any(unusual()):
                break
        with self.subTest("upstream takes over and changes no object otherwise than at a restart of its own"):
            self.check_no_changes(unusual()[0])
        with self.subTest("upstream takes over and sends no kind of write that a restart of its own does not"):
            self.assertEqual(unusual()[1][:60], [])

    def note_restart_of_upstream(self):
        """Restarts upstream and adds what it writes then to what is usual."""
        self.usual_changes |= {_place(change) for change in self.exchange("upstream")}
        self.usual_writes += self.writes.kinds()

    def check_states(self, scenarios, outcomes, first, last):
        """The steps that were taken under our daemon ended as recorded from upstream."""
        compared, release = 0, scenario.release_of(self.plane.versions()["karmada"])
        for one in scenarios:
            titles = one.titles(first, last)
            if one.name == "policy-lazy" or not titles:  # Upstream's restart has done what its next steps are about.
                continue
            compared += len(titles)
            states = outcomes[one.name].states
            _forget_events(states.get(one.title(first - 1), {}), states, one.recorded(release), titles)
            with self.subTest(f"{one.name} goes on with ours"):
                check_recording(self, one, outcomes[one.name], titles)
        print(f"  {compared} steps under our daemon compared with upstream's", flush=True)
        self.assertGreaterEqual(compared, len(scenarios))

    def start(self, whose):
        exe = paths.DAEMON if whose == "ours" else self.plane.testbed.exe("upstream-controller-manager")
        flags = self.flags + ([] if whose == "ours" else scenario.UPSTREAM_FLAGS) + ["--leader-elect=true"]
        holder = _holder(self.host)
        self.daemon = Daemon(self.plane, exe, name=f"takeover-{whose}", flags=flags)
        self.daemon.wait_healthy()
        wait_until(f"{whose} leads", lambda: _holder(self.host) not in ("", holder), 60)
        if whose == "ours":
            self.assertEqual(self.daemon.value("leader_election_master_status"), 1)

    def exchange(self, whose):
        """Stops the controller manager and starts another one; returns what has been changed until it has been quiet for
        a while. self.writes has its requests then."""
        self.wait_quiet()
        self.daemon.stop()
        before = snapshot.take(self.plane)
        self.writes.rewind()
        self.start(whose)
        changes, written, since, end = None, None, time.monotonic(), time.monotonic() + 300
        while time.monotonic() < min(since + _QUIET_SECONDS, end):
            now = snapshot.changes(before, snapshot.take(self.plane)), len(self.writes.accepted())
            if now != (changes, written):
                (changes, written), since = now, time.monotonic()
            time.sleep(1)
        places = sorted({" ".join(_place(change)) for change in changes})
        print(f"  {whose} started: {len(before)} objects, {len(changes)} changes"
              + "".join(f"\n    {place}" for place in places)
              + "".join(f"\n    {count} x {' '.join(kind)}" for kind, count in sorted(self.writes.kinds().items())),
              flush=True)
        return changes

    def wait_quiet(self):
        """Waits until the controller manager has written nothing for more than a round of cluster status. What is refused
        does not count: upstream repeats it every two seconds, such as the replicas that a quota does not permit."""
        written, since, end = [], time.monotonic(), time.monotonic() + 300
        while time.monotonic() < since + _QUIET_SECONDS:
            now = self.writes.accepted()
            if len(now) != len(written):
                written, since = now, time.monotonic()
            if time.monotonic() > end:
                raise AssertionError("the controller manager does not rest:\n" + "\n".join(map(_text, written[-20:])))
            time.sleep(1)

    def check_no_changes(self, changes):
        if changes:
            self.fail(f"{len(changes)} changes:\n" + "\n".join(map(_describe, changes[:60])))


def _holder(host):
    """Who leads, or led last; "" for nobody."""
    lease = host.find(_LEASE)
    return (lease or {}).get("spec", {}).get("holderIdentity") or ""


def _probe(members):
    head = {"namespace": _PROBE, "name": "probe"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _PROBE}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": head, "data": {"k": "v"}},
        {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": head,
         "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "probe"}],
                  "placement": {"clusterAffinity": {"clusterNames": members}}}}]


def _side(cluster):
    return HOST if cluster == HOST else "member"


def _works_of(scenarios, plane):
    """(namespace, name) of the Works that are there for scenarios."""
    return {tuple(key.split("/")[2:]) for key, item in recording.read(plane).items()
            if key.startswith(f"{HOST}/Work/") and any(one.owns(key, item) for one in scenarios)}


def _kind(pair):
    """(host or member, verb, resource) of a write. Which templates' statuses upstream writes at a restart, and finds that
    nothing has changed, differs from time to time."""
    cluster, write = pair
    of_karmada = write.resource.split("/")[0] in ("works", "resourcebindings", "clusterresourcebindings", "clusters")
    is_status = cluster == HOST and write.resource.endswith("/status") and not of_karmada
    return _side(cluster), write.verb, "status of a template" if is_status else _whatever_scope(write.resource)


def _forget_events(before, states, recorded, titles):
    """Takes out of the states after these steps the events that were there before them, and are not in the recording:
    a busy machine makes upstream meet its own writes, and events stay for an hour."""
    for title in titles:
        for key in [key for key, item in states.get(title, {}).items()
                    if "/Event/" in key and before.get(key) == item and key not in recorded.get(title, {})]:
            states[title].pop(key)


def _key(pair):
    """What a write is about: an object, as in a snapshot, or a subresource of one."""
    cluster, write = pair
    return f"{cluster}/{write.resource}/{write.name}"


def _object_of(pair):
    """The object that a write is about, as in a snapshot."""
    cluster, write = pair
    return f"{cluster}/{write.resource.split('/')[0]}/{write.name}"


def _is_a_sum(change):
    return change[0].startswith(f"{HOST}/clusters/") and change[1].startswith(_SUMS)


def _we_mend(change):
    if not any(key.match(change[0]) and field.match(change[1]) for key, field in _WE_MEND):
        return False
    return change[1] != "status.conditions" or _are_added_conditions(*change[2:])


def _are_added_conditions(old, new):
    """Whether a Deployment has got the two conditions, and keeps those of other types."""
    added = [condition for condition in new or [] if condition not in (old or [])]
    kept = [condition for condition in new or [] if condition in (old or [])]
    return sorted(condition["type"] for condition in added) == _CONDITIONS_OF_DEPLOYMENTS and kept == (old or [])


def _text(pair):
    cluster, write = pair
    return f"{cluster}: {write.verb} {write.resource} {write.name} by {write.agent}: {write.code}"


def _place(change):
    """The kind of object and the field of a change, without the names in them."""
    cluster, resource = change[0].split("/")[:2]
    return _side(cluster), _whatever_scope(resource), change[1]


def _whatever_scope(resource):
    """One name for both kinds of binding: upstream has the same loops for both, and what it writes at a restart meets
    either of them by chance, above all the few that have no namespace."""
    return resource.replace("clusterresourcebindings", "resourcebindings")


def _is_the_same(change):
    """A field that was written and put back, as upstream does while its caches fill, or clusters in another order: the
    scheduler, which looks at each binding that upstream writes, keeps none."""
    _, field, old, new = change
    in_another_order = field == "spec.clusters" and sorted(map(str, old or [])) == sorted(map(str, new or []))
    return field == "metadata.resourceVersion" or in_another_order


def _describe(change):
    key, field, old, new = change
    return f"{key}: {field}" + (f": {str(old)[:600]} -> {str(new)[:600]}" if (old, new) != (None, None) else "")
