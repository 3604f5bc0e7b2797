"""The Debian packages in build/packages: in a clean Debian, before lintian, and built twice."""
import json
import os
import re
import shutil
import unittest

import places
from clean_debian import CleanDebian

NAMES = {*places.DAEMONS, *places.TOOLS, "karmada-data"}


def packages():
    """{name: path} of what was built."""
    return {path.name.partition("_")[0]: path for path in places.PACKAGES.glob("*.deb")}


def field(path, name):
    return places.run("dpkg-deb", "--field", path, name).stdout.strip()


class PackagesTest(unittest.TestCase):
    def test_there_is_one_for_each_program_and_one_for_their_data(self):
        self.assertEqual(set(packages()), NAMES)
        for name, path in packages().items():
            self.assertEqual(field(path, "Version"), places.version()["debian"])
            self.assertEqual(field(path, "Architecture") == "all", name == "karmada-data")

    def test_versions_are_ordered_as_releases_are(self):
        self.assertTrue(re.match(r"\d", places.version()["debian"]))
        for earlier, later in (("0.1.0~dev.9.gabc", "0.1.0~rc.1"), ("0.1.0~rc.1", "0.1.0"), ("0.1.0", "0.1.0+12.gabc"),
                               ("0.1.0+12.gabc", "0.1.1~dev.1.gabc")):
            places.run("dpkg", "--compare-versions", earlier, "lt", later)

    def test_lintian_finds_no_error(self):
        done = places.run("lintian", "--allow-root", "--fail-on", "error", "--profile", "debian",
                          *packages().values(), check=False, timeout=5 * places.DEADLINE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotRegex(done.stdout, r"(?m)^E: ")

    def test_a_second_build_is_the_same(self):
        other = places.scratch("second") / "packages"
        shutil.rmtree(other, ignore_errors=True)
        places.run("/usr/bin/python3", places.SOURCE / "packaging" / "debian" / "build.py", "--output", other,
                   env=dict(os.environ, TZ="Asia/Tokyo"), cwd="/", timeout=5 * places.DEADLINE)
        self.assertEqual({path.name for path in other.glob("*.deb")}, {path.name for path in packages().values()})
        for path in packages().values():
            self.assertEqual((other / path.name).read_bytes(), path.read_bytes(), path.name)


class CleanDebianTest(unittest.TestCase):
    """All packages in one Debian that had nothing of ours, and no compiler."""

    @classmethod
    def setUpClass(cls):
        cls.debian = CleanDebian(places.scratch("clean") / "root")
        cls.before = cls.files()
        cls.debian.install(*packages().values(), "kubernetes-client")

    @classmethod
    def files(cls):
        found = cls.debian.run("find", "/usr", "/etc", "-xdev", "-name", "*karmada*").stdout
        return set(found.split())

    def test_every_file_is_as_it_was_packed(self):
        self.assertEqual(self.debian.run("dpkg", "--verify", *NAMES).stdout, "")

    def test_programs_answer(self):
        for name in (*places.DAEMONS, *places.TOOLS):
            shown = places.run(places.BIN / name, "--help").stdout
            self.assertEqual(self.debian.run(name, "--help").stdout, shown)
            self.assertEqual(self.debian.run(name, "--version").stdout.strip(), places.version()["version"])

    def test_kubectl_finds_the_plugins(self):
        shown = self.debian.run("kubectl", "karmada-interpret", "--help").stdout
        self.assertIn("Usage: kubectl karmada-interpret ", shown)
        shown = self.debian.run("kubectl", "karmada-lens", "plan", "-f", "/usr/share/karmada/samples/demo", "-o", "json",
                                check=False)
        self.assertEqual(shown.returncode, 2, shown.stderr)  # There is something to see.
        self.assertEqual(json.loads(shown.stdout)["summary"]["create"], 3, shown.stdout)

    def test_reasons_are_explained_without_the_documents(self):
        """As in an image, or where dpkg leaves documents out (path-exclude)."""
        other = CleanDebian(places.scratch("undocumented") / "root")
        other.install(packages()["karmada-lens"], packages()["karmada-data"])
        other.run("rm", "-r", "/usr/share/doc", "/usr/share/man")
        shown = other.run("karmada-lens", "explain", "SyncFailed").stdout
        self.assertRegex(shown, r"(?m)^SyncFailed \(Warning event, ")
        self.assertRegex(shown, r"(?m)^means: +\S")
        self.assertRegex(shown, r"(?m)^what to do: +\S")
        self.assertEqual(other.run("karmada-lens", "explain", "NoSuchReason", check=False).returncode, 2)

    def test_an_interpreter_runs_an_operation(self):
        pod = self.debian.root / "tmp" / "pod.yaml"
        pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nstatus: {phase: Failed}\n")
        shown = self.debian.run("karmada-interpret", "run", "--operation", "InterpretHealth", "--observed", "/tmp/pod.yaml",
                                "-o", "json").stdout
        self.assertIs(json.loads(shown), False)

    def test_the_sandbox_finds_the_controller_manager_and_its_data(self):
        shown = self.debian.run("karmada-sandbox", "demo", "--deadline", "2m").stdout
        self.assertIn("Deployment demo/nginx  6/6 ready", shown)

    def test_nothing_of_ours_stays_when_they_are_removed(self):
        other = CleanDebian(places.scratch("removed") / "root")
        other.install(packages()["karmada-data"])
        other.run("dpkg", "--purge", "karmada-data")
        self.assertEqual(other.run("find", "/usr", "/etc", "-xdev", "-name", "*karmada*").stdout, "")


if __name__ == "__main__":
    unittest.main()
