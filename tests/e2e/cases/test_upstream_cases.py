"""Upstream's own case files run as they are, with its customizations and with ours. Starts no servers."""

import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

from rig import paths
from rig.suite import require_binary

KNOWN = pathlib.Path(__file__).parent / "data" / "upstream-cases.yaml"
FILES = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"


class UpstreamCasesTest(unittest.TestCase):
    maxDiff = None
    needs_plane = False

    @classmethod
    def setUpClass(cls):
        require_binary(paths.INTERPRET)
        cls.known = yaml.safe_load(KNOWN.read_text())
        cls.files = paths.upstream_module() / FILES

    def failing(self, *flags):
        """Runs all cases; the names of those that do not pass, with their files."""
        with tempfile.NamedTemporaryFile(suffix=".xml") as report:
            done = subprocess.run([str(paths.INTERPRET), "test", str(self.files), "--quiet",
                                   "--junit", report.name, *flags], capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertEqual(done.stderr, "")
            cases = [(suite.get("name"), case) for suite in xml.etree.ElementTree.parse(report.name).iter("testsuite")
                     for case in suite.iter("testcase")]
        self.assertEqual(len(cases), self.known["cases"])
        return sorted(f"{pathlib.Path(file).relative_to(self.files)}: {case.get('name')}"
                      for file, case in cases if case.find("failure") is not None)

    def expected(self, key):
        return sorted(f"{file}: {name}" for group in self.known[key]
                      for file, names in group["files"].items() for name in names)

    def test_they_pass_with_upstreams_scripts_but_for_documented_differences(self):
        failing = self.failing("--no-shipped", "--no-native", "-R", "-f", str(self.files))
        self.assertEqual(failing, self.expected("upstream_scripts"))

    def test_they_pass_with_the_shipped_scripts_but_for_documented_differences(self):
        self.assertEqual(self.failing(), self.expected("shipped"))

    def test_every_reason_is_documented(self):
        documented = (paths.ROOT / "docs" / "differences.md").read_text()
        for group in self.known["upstream_scripts"] + self.known["shipped"]:
            self.assertIn(f"| {group['reason']}", documented)
