"""Who may do what through karmada-search, and as whom members see it."""

from rig.audit import Audit
from rig.process import free_port
from rig.search import PROXY, REGISTRIES, USER
from rig.search_case import CONFIGMAPS, NAMESPACE, SEARCHER, STRANGER, SearchCase

EXTRA = "authentication.kubernetes.io/credential-id"


class SearchRightsTest(SearchCase):
    def test_strangers_read_the_cache_and_write_nothing(self):
        self.assertIn("only-1", self.succeeds("get configmaps -o name", user=STRANGER))
        for member, name in (("member1", "only-1"), ("member2", "only-2")):
            self.is_refused(f"delete configmap {name}", "(Forbidden)",
                            f'User "{STRANGER}" cannot delete resource "configmaps"', user=STRANGER)
            self.assertIsNotNone(self.plane.kube(member).find(f"{CONFIGMAPS}/{name}"))
        pod = self.pod(1)
        self.is_refused(f"logs {pod}", f'User "{STRANGER}" cannot get resource "pods/log"', user=STRANGER)
        self.is_refused(f"exec {pod} -- id", f'User "{STRANGER}" cannot', user=STRANGER)

    def test_the_control_plane_knows_who_asks_for_what_is_its_own(self):
        self.is_refused("get secrets -n karmada-cluster", f'User "{STRANGER}" cannot list resource "secrets"', user=STRANGER)
        self.is_refused("create clusterrolebinding up --clusterrole=cluster-admin --user=e2e-stranger",
                        f'User "{STRANGER}" cannot create resource "clusterrolebindings"', user=STRANGER)

    def test_nobody_gets_in_who_may_not_use_the_proxy(self):
        plain = self.plane.user("e2e-nobody", "e2e-nobody", group=None)
        self.shared.users["e2e-nobody"] = plain
        self.addCleanup(self.shared.users.pop, "e2e-nobody")
        refusal = 'User "e2e-nobody" cannot get resource "proxying/proxy" in API group "search.karmada.io"'
        self.is_refused("get pods", refusal, user="e2e-nobody")
        # Not behind the control plane's API server either.
        self.is_refused("get pods", refusal, user="e2e-nobody", server=self.search.direct.server)
        self.is_refused("get resourceregistries", 'cannot list resource "resourceregistries"', user="e2e-nobody", base="",
                        server=self.search.direct.server)

    def test_a_reader_without_rights_is_refused_where_reads_are_authorized(self):
        strict = self.site.start(name="search-strict", port=free_port(), flags=["--authorize-cached-reads"])
        self.addCleanup(strict.stop)
        strict.wait_ready()
        there = {"server": strict.direct.server}
        self.assertIn("only-1", self.succeeds("get configmaps -o name", **there))
        self.is_refused("get configmaps -o name", f'User "{STRANGER}" cannot list resource "configmaps"', user=STRANGER, **there)
        self.is_refused("get configmap only-1", f'User "{STRANGER}" cannot get resource "configmaps"', user=STRANGER, **there)

    def test_members_see_the_whole_identity_where_they_permit_it(self):
        for number, whole in ((1, True), (2, False)):
            with self.subTest(f"member{number}"):
                audit = Audit(self.plane, f"member{number}")
                self.host.kubectl(f"--server={self.host.server}{PROXY}", "--as", SEARCHER, "--as-uid=4711", "--as-group=e2e-searchers",
                                  "-n", NAMESPACE, "annotate", "configmap", f"only-{number}", "seen=whole", "--overwrite")
                user = self.wait("the audit log", lambda audit=audit: _impersonated(audit))
                self.assertEqual(user["username"], SEARCHER)
                self.assertIn("e2e-searchers", user["groups"])
                self.assertEqual(user.get("uid"), "4711" if whole else None)
        audit = Audit(self.plane, "member1")
        self.succeeds("annotate configmap only-1 seen=extra --overwrite")
        user = self.wait("the audit log", lambda: _impersonated(audit))
        self.assertIn(EXTRA, user.get("extra", {}), user)

    def test_it_reads_no_other_secrets_than_members_and_has_no_more_rights_than_it_needs(self):
        """The user of karmada-search is the one whom the shipped roles name."""
        done = self.host.try_kubectl("auth", "can-i", "--list", "--as", USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("*.*", done.stdout)
        for refused in ("get secrets -n karmada-system", "delete pods", "create clusterrolebindings"):
            answer = self.host.try_kubectl("auth", "can-i", *refused.split(), "--as", USER)
            self.assertEqual(answer.stdout.strip(), "no", refused)

    def test_nothing_that_it_sends_is_refused(self):
        """Its rights suffice for everything that the other cases have done."""
        audit = Audit(self.plane)
        audit.rewind_to_the_beginning()
        refused = [f"{write.verb} {write.resource} {write.name}" for write in audit.writes(USER) if write.code == 403]
        self.assertEqual(refused, [])
        self.assertIsNotNone(self.host.find(REGISTRIES + "/e2e-search"))
        # A member whose API server has just started may refuse for a moment what it permits.
        self.assertEqual([line for line in self.search.process.log.read_text().splitlines()
                          if line[:1] in "WE" and PROXY not in line and "orbidden" in line
                          and "system:serviceaccount:karmada-cluster:" not in line], [])



def _impersonated(audit):
    """For whom karmada-impersonator has written last."""
    users = [event["impersonatedUser"] for event in audit.events() if "impersonatedUser" in event
             and event["user"]["username"].endswith(":karmada-impersonator")
             and event["responseStatus"]["code"] < 300]
    return users[-1] if users else None
