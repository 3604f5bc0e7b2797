#!/usr/bin/env python3
"""Runs the steps of the pull-request check in docs/what-if.md as they stand, with a server in the place of
GitHub's: what it comments, what it attaches, and when it fails."""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import yaml

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path.cwd()
NOT_HERE = 77  # What ctest takes for skipped.

CLUSTERS = "\n---\n".join(
    f"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: member{i}}}" for i in (1, 2))
POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: web}]
  placement: {clusterAffinity: {clusterNames: [%s]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data: {greeting: "<b>hello</b>"}
"""


def workflow():
    page = (ROOT / "docs/what-if.md").read_text()
    return next(yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)\n```", page, re.S) if "jobs:" in block)


class GitHub(http.server.BaseHTTPRequestHandler):
    comments = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.comments.append((self.path, self.headers["Authorization"], json.loads(body)["body"]))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


class Recipe(unittest.TestCase):
    def setUp(self):
        GitHub.comments.clear()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, folder, clusters):
        (folder / "deploy").mkdir(parents=True, exist_ok=True)
        (folder / "clusters.yaml").write_text(CLUSTERS)
        (folder / "deploy/web.yaml").write_text(POLICY % clusters)

    def step(self, name, outputs):
        step = next(s for s in workflow()["jobs"]["plan"]["steps"] if s.get("name") == name)
        port = self.server.server_address[1]
        env = {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(self.folder / "outputs"),
               "GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "team/fleet", "GITHUB_RUN_ID": "7",
               "GITHUB_API_URL": f"http://127.0.0.1:{port}", "GH_TOKEN": "secret", "PR": "12", **outputs}
        # As GitHub runs them.
        return subprocess.run(["bash", "-e", "-c", step["run"]], cwd=self.folder, env=env, check=False).returncode

    def run_check(self, before, after):
        self.write(self.folder / "base", before)
        self.write(self.folder, after)
        self.assertEqual(self.step("Plan", {}), 0)
        self.assertEqual(self.step("Comment", {}), 0)
        codes = dict(line.split("=") for line in (self.folder / "outputs").read_text().split())["codes"]
        return self.step("Judge", {"CODES": codes})

    def test_a_change_that_the_fleet_stands_is_commented_and_passes(self):
        shutil.copy(ROOT / "config/samples/failover/clustertaintpolicy.yaml", self.policies())
        self.assertEqual(self.run_check("member2", "member1, member2"), 0)
        (path, token, body), = GitHub.comments
        self.assertEqual(path, "/repos/team/fleet/issues/12/comments")
        self.assertEqual(token, "Bearer secret")
        self.assertIn("+ member1: create", body)
        self.assertIn("What if member1 is lost?", body)
        self.assertIn("https://git.example/team/fleet/actions/runs/7", body)

    def test_a_page_needs_no_other_file_and_shows_text_of_objects_as_text(self):
        self.run_check("member2", "member1, member2")
        for name in ("plan.html", "lost.html"):
            page = (self.folder / name).read_text()
            self.assertTrue(page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n"), name)
            self.assertNotRegex(page, r"<script|<link|src=|href=|url\(|<b>")
        self.assertIn("&lt;b&gt;hello", (self.folder / "plan.html").read_text())

    def test_a_workload_that_would_be_pinned_to_the_lost_cluster_fails_the_check(self):
        shutil.copy(ROOT / "config/samples/failover/clustertaintpolicy.yaml", self.policies())
        self.assertEqual(self.run_check("member2", "member1"), 1)
        (_, _, body), = GitHub.comments
        self.assertIn("ConfigMap shop/web  pinned", body)

    def test_a_workload_that_would_be_left_in_the_lost_cluster_fails_the_check(self):
        self.assertEqual(self.run_check("member2", "member1, member2"), 1)
        (_, _, body), = GitHub.comments
        self.assertIn("Cluster member1: 1 template stays there: no ClusterTaintPolicy", body)

    def policies(self):
        folder = self.folder / "deploy/policies"
        folder.mkdir(parents=True)
        return folder

    def test_a_manifest_that_would_be_refused_fails_the_check(self):
        self.write(self.folder / "base", "member2")
        self.write(self.folder, "member2")
        (self.folder / "deploy/bad.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n")
        self.assertEqual(self.step("Plan", {}), 0)
        codes = (self.folder / "outputs").read_text().split("=")[1].strip()
        self.assertEqual(self.step("Judge", {"CODES": codes}), 1)


if __name__ == "__main__":
    if not all(shutil.which(tool) for tool in ("jq", "curl")):
        print("skipped: jq and curl are not here")
        sys.exit(NOT_HERE)
    unittest.main()
