#!/usr/bin/env python3
"""Tests of scripts/compare-upstream on small made-up trees: what a release can change is found, and nothing is left out in silence."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass

import made_up_trees as made_up
from made_up_trees import TABLES, UPSTREAM, changed

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "compare-upstream"


def load(path):
    """The script as a module: its name has no ending."""
    loader = importlib.machinery.SourceFileLoader("compare_upstream", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_upstream", loader))
    loader.exec_module(module)
    return module


compare_upstream = load(SCRIPT)


@dataclass
class Run:
    returncode: int
    stdout: str
    stderr: str


FLAGS = "docs/command-line-flags/karmada-controller-manager.md"
CRD = "charts/karmada/_crds/bases/work/things.yaml"
LOOP = "pkg/controllers/things/controller.go"

# What upstream changes: (file, before, after) -> the rows that say so: (area, change, name, what `here` says).
CHANGES = [
    ((FLAGS, "  -v, --v Level", "      --new duration                 how long (default 5s)\n  -v, --v Level"),
     [("flags:karmada-controller-manager", "added", "--new",
       "config/internal has no flag of this name, and tests/config/data/upstream_flags.txt lacks it")]),
    ((FLAGS, "(default 2)", "(default 3)"),
     [("flags:karmada-controller-manager", "changed", "--stop-at",
       "has the name; whether it has the value, too, only its code says")]),
    ((FLAGS, "where logs are written", "where logs lie"),
     [("flags:karmada-controller-manager", "reworded", "--log-dir",
       "has the name; whether it has the value, too, only its code says")]),
    ((FLAGS, "      --log-dir string               where logs are written\n", ""),
     [("flags:karmada-controller-manager", "removed", "--log-dir", "still here")]),
    ((FLAGS, "Fast=true|false (ALPHA - default=false)", "Fast=true|false (BETA - default=true)"),
     [("flags:karmada-controller-manager", "changed", "--feature-gates Fast", "")]),
    (("pkg/features/features.go", "{Default: false, PreRelease: featuregate.Alpha}", "{Default: true, PreRelease: featuregate.Beta}"),
     [("gates", "changed", "Fast", "config/feature_gates.cc has Alpha, off")]),
    (("vendor/k8s.io/client-go/features/features.go", "Default: true, PreRelease: Beta", "Default: true, PreRelease: GA, LockToDefault: true"),
     [("library-gates", "changed", "k8s.io/client-go Rotation", None)]),
    (("go.mod", "k8s.io/api v0.35.0", "k8s.io/api v0.36.0"),
     [("libraries", "changed", "k8s.io/api", "scripts/kubernetes-types/go.mod has v0.35.0")]),
    ((CRD, "                mode:", "                parts: {type: array, items: {type: object, properties: {size: {type: integer}}}}\n                mode:"),
     [("definitions", "added", "Thing v1 spec.parts (and 2 below it)", "config/crds has nothing")]),
    ((CRD, "enum: [Slow, Fast]", "enum: [Slow]"),
     [("definitions", "changed", "Thing v1 spec.mode", "config/crds has string, default: Slow, enum: [Slow, Fast]")]),
    ((CRD, "type: date", "type: string"), [("definitions", "changed", "Thing v1 column AGE",
                                             "config/crds has {jsonPath: .metadata.creationTimestamp, type: date}")]),
    ((CRD, "description: of the thing", "description: of this thing"), []),
    (("pkg/apis/work/v1/types.go", '\tName string `json:"name"`', '\tName string `json:"name"`\n\tSize *int32 `json:"size,omitempty"`'),
     [("types", "added", "pkg/apis/work/v1.Spec.size", None)]),
    (("pkg/apis/work/v1/types.go", "Enum=Slow;Fast", "Enum=Slow"), [("types", "changed", "pkg/apis/work/v1.Spec.Mode validation", None)]),
    (("pkg/util/constants.go", '"things.karmada.io/name"', '"things.karmada.io/title"'),
     [("constants", "changed", "pkg/util.ThingLabel", 'no source has "things.karmada.io/title"')]),
    (("cmd/controller-manager/app/app.go", 'sets.New("rare")', 'sets.New("rare", "things")'),
     [("controllers", "changed", "things", "config/support.cc has on"),
      ("code", "changed", "cmd/controller-manager/app/app.go", None)]),
    ((LOOP, "events.EventReasonMade, ", "reason, "), [("events", "changed", "Made", ""), ("code", "changed", LOOP, None)]),
    ((LOOP, '"MakingDone"', '"MakingOver"'),
     [("reasons", "removed", "MakingDone", None), ("reasons", "added", "MakingOver", None), ("code", "changed", LOOP, None)]),
    ((LOOP, "The thing has been made.", "The thing is there."),
     [("texts", "removed", "The thing has been made.", None), ("texts", "added", "The thing is there.", None),
      ("code", "changed", LOOP, None)]),
    ((LOOP, "which only the log says", "as the log says"), [("code", "changed", LOOP, None)]),
    ((LOOP, "metrics.CountMade(nil, true)", "metrics.CountMade(nil, false)"),
     [("metric-calls", "changed", "CountMade in pkg/controllers/things", None), ("code", "changed", LOOP, None)]),
    ((LOOP, 'workv1.Prefix + "-controller"', 'workv1.Prefix + "-maker"'),
     [("event-sources", "removed", "cmd/controller-manager: thing-controller", None),
      ("event-sources", "added", "cmd/controller-manager: thing-maker", None),
      ("constants", "changed", "pkg/controllers/things.ControllerName", None),
      # A part of a constant is a literal, too, but neither a reason nor a message.
      ]),
    (("pkg/metrics/metrics.go", '"result", "again"', '"result", "once_more"'),
     [("metrics", "changed", "things_made_total", 'docs/metrics.md has the labels "result, again"'),
      ("code", "changed", "pkg/metrics/metrics.go", None)]),
    (("vendor/sigs.k8s.io/controller-runtime/metrics.go", '[]string{"controller"}', '[]string{"controller", "kind"}'),
     [("library-metrics", "changed", "runtime_reconcile_total", None)]),
    (("pkg/resourceinterpreter/default/native/retain.go", "\treturn s", "\ts[appsv1.SchemeGroupVersion.WithKind(util.SetKind)] = f\n\treturn s"),
     [("rules", "added", "Retention apps/v1 Set", "interpreter/native has no retain for apps/v1 Set"),
      ("interpreter-code", "changed", "pkg/resourceinterpreter/default/native/retain.go", None)]),
    (("pkg/resourceinterpreter/default/thirdparty/resourcecustomizations/example.io/v1/Widget/customizations.yaml", "return d", "return o"),
     [("customizations", "changed", "example.io/v1/Widget: retention", "has the name; whether it has the value, too, only its code says")]),
    (("pkg/webhook/defaults.go", "t.Mode = Slow", "t.Mode = Fast"), [("admission", "changed", "pkg/webhook/defaults.go", None)]),
    (("pkg/webhook/defaults.go", "Slow is slower.", "Slow is slow."), []),
    (("charts/karmada/templates/hooks.yaml", "[CREATE]", "[CREATE, UPDATE]"),
     [("webhooks", "changed", "charts/karmada/templates/hooks.yaml", None),
      ("manifests", "changed", "charts/karmada/templates/hooks.yaml", None)]),
    (("charts/karmada/templates/roles.yaml", "[get]", "[get, list]"),
     [("rights", "changed", "charts/karmada/templates/roles.yaml", None),
      ("manifests", "changed", "charts/karmada/templates/roles.yaml", None)]),
    (("pkg/scheduler/scheduler.go", "names[0]", "names[1]"), [("scheduler", "changed", "pkg/scheduler/scheduler.go", None)]),
    (("vendor/k8s.io/api/core/v1/types.go", "\tNodeName", '\tGroup *Group `json:"group,omitempty"`\n\tNodeName'),
     [("kubernetes", "added", "vendor/k8s.io/api/core/v1.PodSpec.group", None)]),
    (("vendor/k8s.io/api/core/v1/types.go", '"Ready"', '"Done"'),
     [("kubernetes-constants", "changed", "vendor/k8s.io/api/core/v1.Ready", None)]),
    (("hack/deploy.sh", "v1.35.0", "v1.36.2"),
     [("plane", "changed", "hack/deploy.sh KARMADA_APISERVER_VERSION", "sandbox/api_server.h has v1.35.3")]),
    (("charts/karmada/values.yaml", "3.6.6-0", "3.6.8-0"), [("values", "changed", "karmada: etcd.image.tag", None)]),
    (("docs/CHANGELOG/CHANGELOG-1.8.md", "# v1.8.0", "# v1.10.0-rc.0\n- The new change.\n\n# v1.8.0"),
     [("release", "changed", "newest release", "config/release.h has no release v1.10"),
      ("changelog", "added", "The new change.", None)]),
]
NINE = changed(UPSTREAM, "docs/CHANGELOG/CHANGELOG-1.8.md", "# v1.8.0", "# v1.9.0\n- The new change.\n\n# v1.8.0")
FAST = ("pkg/features/features.go", "{Default: false, PreRelease: featuregate.Alpha}", "{Default: true, PreRelease: featuregate.Beta}")


class CompareUpstreamTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        made_up.write(self.root / "old", UPSTREAM)
        made_up.write(self.root / "tables", TABLES)

    def run_script(self, *arguments, tables="tables"):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                status = compare_upstream.main([str(a) for a in ("--tables", self.root / tables, *arguments)])
            except SystemExit as end:
                status = end.code
        return Run(status, out.getvalue(), errors.getvalue())

    def rows(self, done):
        return [(r["area"], r["change"], r["name"], r["here"]) for r in json.loads(done.stdout)["rows"]]

    def compare(self, files, *arguments):
        made_up.write(self.root / "new", files)
        return self.run_script(self.root / "new", "--since", self.root / "old", "--output", "json", *arguments)

    def test_finds_nothing_between_equal_trees(self):
        done = self.compare(UPSTREAM)
        self.assertEqual((done.returncode, self.rows(done)), (0, []), done.stdout)

    def test_finds_what_a_release_changes(self):
        for change, rows in CHANGES:
            with self.subTest(change=change):
                done = self.compare(changed(UPSTREAM, *change))
                found = self.rows(done)
                self.assertEqual(sorted(found, key=str), sorted(rows, key=str), done.stderr)
                self.assertEqual(done.returncode, 1 if rows else 0)

    def test_compares_with_what_holds_for_the_release(self):
        for files, expected in [(changed(UPSTREAM, *FAST), "config/feature_gates.cc has Alpha, off"), (changed(NINE, *FAST), "")]:
            with self.subTest(expected=expected):
                done = self.compare(files, "--area", "gates")
                self.assertEqual(self.rows(done), [("gates", "changed", "Fast", expected)])
        self.assertEqual(self.rows(self.compare(NINE, "--area", "release")), [("release", "changed", "newest release", "")])

    def test_does_not_miss_what_belongs_elsewhere(self):
        other = ("pkg/metrics/metrics.go", "var made =", 'var x = prometheus.NewGauge(prometheus.GaugeOpts{Name: "other_x"})\n\nvar made =')
        rows = self.rows(self.compare(changed(UPSTREAM, *other), "--area", "metrics"))
        self.assertEqual(rows, [("metrics", "added", "other_x", "not needed: nobody sees them")])
        made_up.write(self.root / "more", changed(UPSTREAM, *other))
        self.assertEqual(self.run_script(self.root / "more").returncode, 0)

    def test_names_the_library_of_a_flag(self):
        done = self.compare(changed(UPSTREAM, FLAGS, "where logs are written", "where logs lie"))
        self.assertEqual([r["origin"] for r in json.loads(done.stdout)["rows"]], ["k8s.io/klog/v2"])

    def test_names_the_functions_that_differ(self):
        done = self.compare(changed(UPSTREAM, LOOP, "return c.setCondition", "// As before.\n\treturn  c.setStatus"))
        self.assertIn(("~Controller.Make", LOOP), [(r["after"], r["name"]) for r in json.loads(done.stdout)["rows"]])

    def test_compares_the_tables_alone(self):
        made_up.write(self.root / "less", changed(TABLES, "docs/events.md", "`Made`", "`Other`"))
        for tables, rows in [("tables", []), ("less", [("events", "lacking", "Made", "docs/events.md has no row of this reason")])]:
            with self.subTest(tables=tables):
                done = self.run_script(self.root / "old", "--output", "json", tables=tables)
                self.assertEqual((done.returncode, self.rows(done)), (1 if rows else 0, rows), done.stdout)

    def test_lists_what_lacks_before_as_after_only_when_asked(self):
        made_up.write(self.root / "less", changed(TABLES, "docs/events.md", "`Made`", "`Other`"))
        plain = self.run_script(self.root / "old", "--since", self.root / "old", tables="less")
        self.assertEqual(plain.returncode, 0, plain.stdout)
        self.assertIn("1 more are in no table here", plain.stdout)
        everything = self.run_script(self.root / "old", "--since", self.root / "old", "--all", tables="less")
        self.assertEqual(everything.returncode, 1)
        self.assertIn("! Made", everything.stdout)

    def test_says_what_it_could_not_compare(self):
        cases = [
            ({k: v for k, v in UPSTREAM.items() if k != FLAGS}, "flags:karmada-controller-manager"),
            (changed(UPSTREAM, "pkg/features/features.go", "PreRelease", "Maturity"), "gates: nothing was found"),
            (changed(UPSTREAM, CRD, "CustomResourceDefinition", "Other"), "definitions: nothing was found"),
            (changed(UPSTREAM, CRD, "  names:", "  called:"), "definitions:"),
            ({k: v for k, v in UPSTREAM.items() if not k.startswith("vendor/k8s.io/apiserver")}, "k8s.io/apiserver is neither"),
        ]
        for number, (files, expected) in enumerate(cases):
            with self.subTest(expected=expected):
                made_up.write(self.root / f"new{number}", files)
                done = self.run_script(self.root / f"new{number}", "--since", self.root / "old")
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stdout, f"NOT COMPARED .*{expected}")

    def test_refuses_what_is_no_tree(self):
        (self.root / "empty").mkdir()
        cases = [(["empty"], "neither a source tree"), (["absent"], "no such folder"), (["old", "--since", "v9"], "git"), (["old", "--area", "x"], "")]
        for (folder, *rest), expected in cases:
            with self.subTest(folder=folder, rest=rest):
                done = self.run_script(self.root / folder, *rest)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(expected, done.stderr)

    def test_refuses_tables_that_it_cannot_read(self):
        made_up.write(self.root / "other", changed(TABLES, "config/support.cc", '{"', '{Name("'))
        done = self.run_script(self.root / "old", tables="other")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing was found in config/support.cc", done.stderr)

    def test_takes_commits_of_a_repository(self):
        repository = self.root / "old"

        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example", "-C", repository, *arguments], check=True,
                           capture_output=True)
        git("init", "--quiet")
        git("add", ".")
        git("commit", "--quiet", "-m", "one")
        git("tag", "v1.8.0")
        made_up.write(repository, changed(UPSTREAM, "hack/deploy.sh", "v1.35.0", "v1.36.2"))
        git("commit", "--quiet", "-am", "two")
        bare = self.root / "bare.git"
        subprocess.run(["git", "clone", "--quiet", "--bare", repository, bare], check=True, capture_output=True)
        for upstream in (repository, bare):
            with self.subTest(upstream=upstream):
                done = self.run_script(upstream, "--since", "v1.8.0", "--output", "json")
                self.assertEqual([row[2] for row in self.rows(done)], ["hack/deploy.sh KARMADA_APISERVER_VERSION"], done.stderr)
                self.assertEqual(json.loads(done.stdout)["since"], "v1.8.0")

    def test_prints_for_people_what_differs_where(self):
        made_up.write(self.root / "new", changed(UPSTREAM, CRD, "enum: [Slow, Fast]", "enum: [Slow]"))
        done = self.run_script(self.root / "new", "--since", self.root / "old", "--area", "definitions")
        self.assertEqual(done.stdout.splitlines()[3:], [
            "== Definitions (charts/karmada/_crds) [definitions]: 1 of 8",
            "  ~ Thing v1 spec.mode",
            "      old   string, default: Slow, enum: [Slow, Fast]",
            "      new   string, default: Slow, enum: [Slow]",
            "      here  config/crds has string, default: Slow, enum: [Slow, Fast]",
            "",
            "1 differences in 1 areas"])

    def test_reads_the_tables_of_this_repository(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root / "old", "--area", "controllers", "--output", "json"],
                              capture_output=True, text=True, check=False)
        # Upstream's made-up controllers are not here; that they are missed shows that the table was read.
        self.assertEqual([row[2] for row in self.rows(done)], ["things", "rare"], done.stderr)


if __name__ == "__main__":
    unittest.main()
