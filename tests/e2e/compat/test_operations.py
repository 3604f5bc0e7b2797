"""An operator's walk through docs/operations.md and docs/operations-reference.md: every command is typed, in the order of the pages, on a
control plane that upstream's controller manager runs; and those of docs/on-call.md between the lines, for which there is no sandbox
(cases/test_sessions.py). What was typed and answered stays in the log operations-walk.log."""

import os
import re
import shutil
import time
import unittest

from rig import installers, paths
from rig.daemon import Daemon
from rig.helm import NAMESPACE, Helm
from rig.hosting import Hosting
from rig.plane import HOST
from rig.pod import secret
from rig.process import wait_until
from rig.suite import PlaneCase, deployment, divided_policy, require_binary, settled_deployments
from rig.typed import Shell, blocks, inline

DOCS = paths.ROOT / "docs"
PAGES = [DOCS / "operations.md", DOCS / "operations-reference.md"]
ON_CALL = DOCS / "on-call.md"
CLUSTER = "walk"
APPS = "e2e-walk"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/karmada-controller-manager"
KUBECONFIG = "/etc/karmada/config/karmada.config"

# Blocks that are not typed here, by a part of their first command: why.
LEFT_OUT = {
    "karmada-controller-manager ... --interpreter-admission": "the three dots are the other flags; cases/test_admission.py starts it so",
    "make image ": "tests/packaging makes the images, and runs them",
    "docker build": "needs Docker",
    "patch karmada NAME": "there is no operator",
    "make package": "tests/packaging installs the packages in a clean Debian",
}

# Commands between the lines that are typed while our program leads, with names for the capitals.
WHILE_OURS_LEADS = {
    "curl localhost:8080/configz": "curl -s localhost:8080/configz | jq .[].controllersOff",
    "karmada-lens why": f"karmada-lens why deployment/web -n {APPS}",
    "karmada-lens why cluster/NAME": "karmada-lens why cluster/member1",
    "karmada-lens why -A": "karmada-lens why -A || [ $? = 2 ]",
    "karmada-lens why --cluster NAME": "karmada-lens why --cluster member1 || [ $? = 2 ]",
    "karmada-lens preflight": "karmada-lens preflight || [ $? = 2 ]",
    "kubectl --kubeconfig $HOSTING -n $NAMESPACE get pods": None,
    "kubectl get --raw '/readyz?verbose'": None,
    "kubectl describe cluster NAME": "kubectl describe cluster member1",
    "kubectl get lease -n $LEASES karmada-controller-manager -o yaml": None,
    "kubectl get federatedhpas -A": None,
    "kubectl get apiservices": None,
    "kubectl get events -A --field-selector reason=ScaleFailed": None,
    "kubectl get cluster NAME -o yaml": "kubectl get cluster member1 -o yaml",
    "kubectl get works -A | grep -w False": "kubectl get works -A | (! grep -w False)",
    "kubectl describe work": "kubectl describe work -n karmada-es-member1",
    "kubectl annotate deployment web resourcetemplate.karmada.io/server-side-apply=true":
        f"kubectl -n {APPS} annotate deployment web resourcetemplate.karmada.io/server-side-apply=true",
    "karmada-controller-manager permissions --shadow": "karmada-controller-manager permissions --shadow --subject=shadow > shadow.yaml",
    "karmada-interpret check FILE": "karmada-interpret check broken.yaml || [ $? = 1 ]",
    "karmada-lens completion bash": "karmada-lens completion bash | bash -n",
    "kubectl --kubeconfig $KARMADA apply --server-side -f FILE":
        "kubectl --kubeconfig $KARMADA apply --server-side --dry-run=server --force-conflicts -f config/crds/work.karmada.io_works.yaml",
    "go tool pprof PROGRAM http://localhost:6060/debug/pprof/profile?seconds=30": "",  # look_inside()
    "kubectl --kubeconfig $HOSTING -n $NAMESPACE rollout restart deployment $DEPLOYMENT": None,
    "kubectl --kubeconfig $KARMADA config view --raw -o jsonpath='{.users[0].user.client-certificate-data}' | base64 -d | openssl x509 -noout -enddate":
        None,
    "curl -s http://127.0.0.1:8081/shadow | jq .": "",  # Before the shadow ends.
    "helm uninstall cpp": "",  # Between the two ways to install it.
}

# Words between the lines that name a program or a target and are no commands to type; the rest is typed elsewhere.
NOT_TYPED = {
    "make bench", "make bench-scale", "make charts", "make compat", "make hostile", "make image", "make package", "helm install",
    "helm template", "helm uninstall", "helm upgrade", "kubectl --kubeconfig $HOSTING", "kubectl --kubeconfig $HOSTING -n $NAMESPACE",
    "kubectl apply", "kubectl rollout status", "kubectl wait --for=condition=Available", "kubectl exec", "kubectl karmada-lens", "karmada-interpret check",
    "karmada-controller-manager --shadow",
    # Needs upstream's operator.
    "kubectl --kubeconfig $HOSTING -n $NAMESPACE patch karmada NAME --type=merge -p '{\"spec\":{\"suspend\":true}}'",
    "karmadactl init",  # Makes the control plane.
    "karmadactl unjoin",  # Scenarios and cases/test_pull_cluster.py.
    "kubectl create namespace karmada-system",  # It is there.
    "kubectl rollout undo",
    # There are no containers here.
    "kubectl logs --previous",
    "kubectl --kubeconfig MEMBER -n NS describe",  # cases/test_sessions.py has the way there.
    # Of use while upstream leads again.
    "kubectl patch deployment NAME --subresource=status --type=merge -p '{\"status\":{\"conditions\":null}}'",
    "kubectl delete apiservice v1alpha1.search.karmada.io",  # cases/test_search_upstream.py.
    'kubectl get --raw "$PROXY/version"',  # cases/test_search_rights.py.
    "kubectl -n karmada-system get lease karmada-search -o yaml",  # cases/test_search_faults.py.
    "skopeo copy oci:build/image/NAME:TAG docker://…",  # Needs a registry.
}


def written():
    """All blocks of the pages, in their order."""
    return [block for page in PAGES for block in blocks(page.read_text())]


def walked():
    """The blocks that are typed."""
    return [block for block in written() if not any(part in block[0] for part in LEFT_OUT)]


class PageTest(unittest.TestCase):
    needs_plane = False

    def test_each_command_is_typed_or_left_out_by_name(self):
        self.assertEqual(len(written()) - len(walked()), len(LEFT_OUT))
        found = {command for page in (*PAGES, ON_CALL) for command in inline(page.read_text())}
        self.assertEqual(found, set(WHILE_OURS_LEADS) | NOT_TYPED)

    def test_the_short_version_has_the_commands_of_the_long_one(self):
        short = [block for block in blocks(PAGES[0].read_text(), "bash")]
        self.assertEqual(len(short), 1)
        typed = {bare(command) for block in walked() for command in block}
        for command in map(bare, short[0]):
            with self.subTest(command):
                self.assertTrue(command in typed or command.startswith("karmada-lens preflight "))


def bare(command):
    """The command in one line, without the comment behind it."""
    return " ".join(re.sub(r"\s#\s.*", "", command.replace("\\\n", " ")).split())


class WalkTest(PlaneCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        require_binary(paths.LENS)
        cls.hosting = Hosting(cls.plane)
        cls.addClassCleanup(cls.hosting.close)
        cls.cluster = cls.plane.add_cluster(CLUSTER)
        cls.addClassCleanup(cls.plane.remove_cluster, CLUSTER)
        cls.cluster.kubectl("create", "namespace", NAMESPACE)
        cls.cluster.apply([secret(NAMESPACE, name, data) for name, data in cls.hosting.secrets().items()])
        installers.deployments("karmada-controller-manager")  # Which lays upstream's chart out.
        cls.helm = Helm(cls.plane.kubeconfigs[CLUSTER])
        cls.helm("install", "karmada", paths.BUILD / "e2e-helm" / "upstream", "--namespace", NAMESPACE, "--no-hooks")

    def setUp(self):
        self.upstream = None
        self.host.delete(LEASE)
        self.addCleanup(self.host.delete, LEASE)
        self.addCleanup(self.upstream_goes)
        self.upstream_comes()
        self.plane.wait_members_ready()
        self.make_namespace(APPS)
        self.host.apply([divided_policy(APPS, self.plane.members), *(deployment(APPS, name) for name in ("web", "shop"))])
        self.wait("the apps", lambda: settled_deployments(self.host, APPS, self.plane.members) == 2, 90)
        self.folder = self.plane.folder / "walk"
        self.shell = Shell(self.plane.logs / "operations-walk.log", self.lay_out(), {
            "PATH": f"{paths.BIN}:{self.plane.testbed.folder}/bin:{os.environ['PATH']}",
            "KUBECONFIG": str(self.plane.kubeconfigs[HOST]), "KARMADA": str(self.plane.kubeconfigs[HOST]),
            "HOSTING": str(self.plane.kubeconfigs[CLUSTER]), "PPROF_TMPDIR": str(self.folder), **self.helm.environment()})
        self.addCleanup(self.shell.close)

    def lay_out(self):
        """A folder in which the page's relative names lead somewhere, and in which it may leave files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for path in paths.ROOT.iterdir():
            (self.folder / path.name).symlink_to(path)
        shutil.copy(self.plane.pki.crt("ca"), self.folder / "ca.crt")
        (self.folder / "broken.yaml").write_text(
            "apiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: broken}\n"
            "spec: {target: {apiVersion: v1, kind: Pod}, customizations: {healthInterpretation: {luaScript: 'nonsense('}}}\n")
        return self.folder

    # ---- Upstream's pods, as far as there are kubelets for them ----------------------------------

    def upstream_comes(self):
        self.upstream = Daemon(self.plane, self.plane.testbed.exe("upstream-controller-manager"), name="walk-upstream",
                               flags=["--leader-elect=true", f"--leader-elect-resource-namespace={NAMESPACE}"])
        self.upstream.wait_healthy()

    def upstream_goes(self):
        if self.upstream is not None:
            self.upstream.stop()
            self.upstream = None

    def holder(self):
        return (self.host.find(LEASE) or {"spec": {}})["spec"].get("holderIdentity", "")

    # ---- Typing ----------------------------------------------------------------------------------

    def type(self, command, timeout=120, may_fail=False):
        code, printed = self.shell.type(command.replace(KUBECONFIG, str(self.plane.kubeconfigs[HOST])), timeout)
        if not may_fail:
            self.assertEqual(code, 0, f"{command}\n{printed[-3000:]}")
            self.assertNotRegex(printed, r"(?im)^error|command not found|no such file", command)
        return printed

    def test_every_command(self):
        steps = [(re.compile(pattern), action) for pattern, action in self.special().items()]
        for block in walked():
            for command in block:
                action = next((action for pattern, action in steps if pattern.search(command)), self.type)
                action(command)

    def special(self):
        """What an operator does besides typing, or looks at in the answer, by command."""
        return {
            r"grep -v ' True\$'": lambda command: self.assertEqual(self.type(command, may_fail=True), ""),
            r"--shadow-report": lambda command: self.type(command, 600),
            r"^selector=": self.select_upstreams_pods,
            r" expose deployment": self.expose,
            r"--replicas=0": lambda command: (self.type(command), self.upstream_goes()),
            r"--replicas=2": self.bring_upstream_back,
            r"^karmada-controller-manager --kubeconfig": self.take_over,
            r"diff before": self.compare_and_look_around,
            r"^make charts": lambda command: self.type(command, 300),
            r"HOSTING install (cpp|shadow) ": self.install,
            r"port-forward": lambda command: None,  # Nodes are on paper.
            r"uninstall shadow": lambda command: None,  # Which install() has done.
            r"rollout status": self.roll_back,
            r"install cpp-rights": self.install_rights,
            r"install cpp-search": self.install_search,
        }

    def start_ours(self, command):
        self.type(command)
        time.sleep(5)

    def select_upstreams_pods(self, command):
        self.type(command)
        wanted = ",".join(f"{key}={value}" for key, value in self.selector_of_upstream().items())
        self.assertEqual(self.type('echo "$selector"'), wanted)

    def expose(self, command):
        self.type(command)
        service = self.cluster.get(f"/api/v1/namespaces/{NAMESPACE}/services/interpreter-admission")
        self.assertEqual(service["spec"]["selector"], self.selector_of_upstream())

    def selector_of_upstream(self):
        have = self.cluster.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/karmada-controller-manager")
        return have["spec"]["selector"]["matchLabels"]

    def take_over(self, command):
        """The operator waits, as the page says: upstream's lease has to end."""
        before = self.holder()
        self.start_ours(command)
        wait_until("our lead", lambda: self.holder() not in ("", before), 60)
        time.sleep(30)  # Whatever it wants to write at a start would be written by now.

    def bring_upstream_back(self, command):
        ours = self.holder()
        self.type(command)
        self.upstream_comes()
        wait_until("upstream's lead", lambda: self.holder() not in ("", ours), 60)

    def compare_and_look_around(self, command):
        printed = self.type(command, may_fail=True)
        changed = [line for line in printed.splitlines() if re.match("[<>]", line) and not re.match("[<>] Cluster ", line)]
        self.assertEqual(changed, [], "our program has written")
        for documented, typed in WHILE_OURS_LEADS.items():
            if typed != "":
                self.type(typed or documented)
        self.look_inside()

    def look_inside(self):
        """The page's answers to "where does CPU time go" and "who holds memory"."""
        self.type('kill "$PID"; wait "$PID"', may_fail=True)
        self.start_ours(f"karmada-controller-manager --kubeconfig={KUBECONFIG} --enable-pprof --profiling-bind-address=127.0.0.1:6060 "
                        "--metrics-bind-address=:8080 --health-probe-bind-address=:10357 --v=2 & PID=$!")
        wait_until("its health", lambda: self.shell.type("curl -sf http://localhost:10357/healthz")[0] == 0, 60)
        for profile in ("profile?seconds=3", "heap"):
            printed = self.type(f"go tool pprof -top {paths.DAEMON} http://localhost:6060/debug/pprof/{profile}")
            self.assertRegex(printed, r"flat%\s+sum%")

    def install(self, command):
        if not list((self.folder / "build" / "charts").glob("karmada-controller-manager-*.tgz")):
            self.type("make charts", 300)
        release = re.search(r"install (\w+)", command).group(1)
        self.type(command, 180)
        self.cluster.kubectl("-n", NAMESPACE, "rollout", "status", "deployment", f"{release}-controller-manager", "--timeout=120s",
                             timeout=130)
        self.type(f"helm --kubeconfig $HOSTING -n karmada-system uninstall {release}")

    def roll_back(self, command):
        self.type(command, 330)
        self.type("kubectl --kubeconfig $HOSTING -n karmada-system rollout undo deployment/karmada-controller-manager")

    def install_rights(self, command):
        self.host.kubectl("delete", "--ignore-not-found", "-f", paths.RIGHTS)
        self.addCleanup(self.host.apply, paths.RIGHTS.read_text())  # Which the daemons of other cases have.
        self.type(command)
        self.type("helm --kubeconfig $KARMADA -n karmada-system uninstall cpp-rights")

    def install_search(self, command):
        self.type(command, 180)
        kubeconfig = re.search(r"--kubeconfig (\S+)", command).group(1)
        self.type(f"helm --kubeconfig {kubeconfig} -n karmada-system uninstall cpp-search")
