"""Small made-up trees for compare_upstream_test.py: one of upstream, with something in every area, and one of this repository."""

import pathlib

PAGE = """---
title: {program}
---

### Options

```
Logs flags:

      --log-dir string               where logs are written
      --stop-at severity             what ends the program (default 2)

Generic flags:

      --feature-gates mapStringBool  A set of key=value pairs. Options are:
                                     AllAlpha=true|false (ALPHA - default=false)
                                     Fast=true|false (ALPHA - default=false)
  -v, --v Level                      number for the log level verbosity
```
"""
DEFINITION = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: work.karmada.io
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns: [{name: AGE, type: date, jsonPath: .metadata.creationTimestamp}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [name]
              properties:
                name: {type: string, description: of the thing}
                mode: {type: string, enum: [Slow, Fast], default: Slow}
"""
CUSTOMIZATION = """apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
spec:
  target: {apiVersion: example.io/v1, kind: Widget}
  customizations:
    retention: {luaScript: "function Retain(d, o) return d end"}
"""
GATES = """package features

const (
\t// Fast makes it fast.
\tFast featuregate.Feature = "Fast"
)

var Default = map[featuregate.Feature]featuregate.FeatureSpec{
\tFast: {Default: false, PreRelease: featuregate.Alpha},
}
"""
LIBRARY_GATES = """package features

const Rotation Feature = "Rotation"

var defaultGates = map[Feature]VersionedSpecs{
\tRotation: {
\t\t{Version: version.MustParse("1.30"), Default: false, PreRelease: Alpha},
\t\t{Version: version.MustParse("1.36"), Default: true, PreRelease: Beta},
\t},
}
"""
METRICS = """package metrics

import "github.com/prometheus/client_golang/prometheus"

const madeName = "things_made_total"

var made = prometheus.NewCounterVec(prometheus.CounterOpts{
\tName: madeName,
\tHelp: "Things.",
}, []string{"result", "again"})

// CountMade counts.
func CountMade(err error, again bool) {
\tmade.WithLabelValues(resultOf(err), strconv.FormatBool(again)).Inc()
}
"""
LOOP = """package things

import (
\t"k8s.io/klog/v2"

\tworkv1 "github.com/karmada-io/karmada/pkg/apis/work/v1"
\t"github.com/karmada-io/karmada/pkg/events"
\t"github.com/karmada-io/karmada/pkg/metrics"
)

// ControllerName is the component.
const ControllerName = workv1.Prefix + "-controller"

func (c *Controller) Make(thing *Thing) error {
\tklog.Infof("Making the thing %s, which only the log says", thing.Name)
\tmetrics.CountMade(nil, true)
\tc.EventRecorder.Event(thing, "Normal", events.EventReasonMade, "The thing has been made.")
\treturn c.setCondition(thing, "MakingDone")
}
"""
APP = """package app

import (
\t"github.com/karmada-io/karmada/pkg/controllers/things"
)

var controllersDisabledByDefault = sets.New("rare")

func init() {
\tcontrollers["things"] = startThings
\tcontrollers["rare"] = startRare
}

func startThings(ctx Context) {
\t_ = things.Controller{EventRecorder: ctx.Mgr.GetEventRecorderFor(things.ControllerName)}
}
"""
NATIVE = """package native

import (
\tappsv1 "k8s.io/api/apps/v1"

\t"github.com/karmada-io/karmada/pkg/util"
)

func getAllDefaultRetentionInterpreter() map[schema.GroupVersionKind]retentionInterpreter {
\ts := make(map[schema.GroupVersionKind]retentionInterpreter)
\ts[appsv1.SchemeGroupVersion.WithKind(util.DeploymentKind)] = retainWorkloadReplicas
\treturn s
}
"""
TYPES = """package v1

// Prefix begins all names.
const Prefix = "thing"

type Spec struct {
\t// +kubebuilder:validation:Enum=Slow;Fast
\tMode string `json:"mode,omitempty"`
\tName string `json:"name"`
}
"""

UPSTREAM = {
    "go.mod": "module github.com/karmada-io/karmada\n\nrequire (\n\tk8s.io/api v0.35.0\n\tk8s.io/klog/v2 v2.130.1\n"
              "\tk8s.io/other v0.1.0 // indirect\n)\n",
    "docs/CHANGELOG/CHANGELOG-1.8.md": "# v1.8.0\n- [Downloads](#downloads)\n\n## Changes\n- The old change.\n",
    "docs/command-line-flags/karmada-controller-manager.md": PAGE.format(program="karmada-controller-manager"),
    "docs/command-line-flags/karmada-search.md": PAGE.format(program="karmada-search"),
    "docs/command-line-flags/karmada-agent.md": PAGE.format(program="karmada-agent"),
    "charts/karmada/_crds/bases/work/things.yaml": DEFINITION,
    "charts/karmada/values.yaml": "etcd:\n  image: {tag: 3.6.6-0}\n",
    "charts/karmada/templates/roles.yaml": "kind: ClusterRole\nrules:\n- verbs: [get]\n  resources: [{{ .Values.things }}]\n",
    "charts/karmada/templates/hooks.yaml": "kind: MutatingWebhookConfiguration\nrules:\n- operations: [CREATE]\n",
    "hack/deploy.sh": 'KARMADA_APISERVER_VERSION=${KARMADA_APISERVER_VERSION:-"v1.35.0"}\n',
    "pkg/features/features.go": GATES,
    "pkg/metrics/metrics.go": METRICS,
    "pkg/events/events.go": 'package events\n\nconst (\n\tEventReasonMade = "Made"\n)\n',
    "pkg/apis/work/v1/types.go": TYPES,
    "pkg/controllers/things/controller.go": LOOP,
    "pkg/resourceinterpreter/default/native/retain.go": NATIVE,
    "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations/example.io/v1/Widget/customizations.yaml": CUSTOMIZATION,
    "pkg/util/constants.go": 'package util\n\nconst (\n\tDeploymentKind = "Deployment"\n\tThingLabel = "things.karmada.io/name"\n)\n',
    "pkg/webhook/defaults.go": "package webhook\n\nfunc Default(t *Thing) {\n\t// Slow is slower.\n\tt.Mode = Slow\n}\n",
    "pkg/scheduler/scheduler.go": "package scheduler\n\nfunc choose(names []string) string {\n\treturn names[0]\n}\n",
    "cmd/controller-manager/app/app.go": APP,
    "cmd/agent/app/agent.go": 'package app\n\nfunc init() {\n\tcontrollers["things"] = startThings\n}\n',
    "vendor/k8s.io/api/core/v1/types.go": 'package v1\n\nconst Ready = "Ready"\n\ntype PodSpec struct {\n'
                                          '\tNodeName string `json:"nodeName,omitempty"`\n}\n',
    "vendor/k8s.io/client-go/features/features.go": LIBRARY_GATES,
    "vendor/k8s.io/apiserver/server.go": "package apiserver\n",
    "vendor/k8s.io/component-base/base.go": "package base\n",
    "vendor/k8s.io/klog/v2/klog.go": 'package klog\n\nfunc init() {\n\tflag.StringVar(&dir, "log_dir", "", "where logs are written")\n}\n',
    "vendor/sigs.k8s.io/controller-runtime/metrics.go":
        "package metrics\n\nvar total = prometheus.NewCounterVec(prometheus.CounterOpts{\n\tSubsystem: \"runtime\",\n"
        "\tName: \"reconcile_total\",\n}, []string{\"controller\"})\n",
}

TABLES = {
    "api/keys.h": 'inline constexpr char kA[] = "things.karmada.io/name";\ninline constexpr char kB[] = "thing";\nchar c[] = "Made";\n'
                  'char d[] = "Deployment";\n',
    "cmd/search/options.cc": 'Add("--log-dir"); Add("-v,--v"); Add("--stop-at"); Add("--feature-gates");\n',
    "config/internal/flags.cc": 'Add("--log-dir"); Add("-v,--v"); Add("--stop-at"); Add("--feature-gates");\n',
    "config/crds/things.yaml": DEFINITION,
    "config/feature_gates.cc": '    {Gate::kFast, "Fast", false, Stage::kAlpha},\n'
                               "    {Gate::kFast, Release::kV1_9, {true, Stage::kBeta}},\n",
    "config/release.h": '{{Release::kV1_8, "v1.8"}, {Release::kV1_9, "v1.9"}}\n{{Release::kV1_8, "v1.8.0"}, {Release::kV1_9, "v1.9.1"}}\n',
    "config/support.cc": '    {"rare", false, kHere},\n    {"things", true, kHere},\n',
    "docs/events.md": "| type | reason |\n|---|---|\n| Normal | `Made` | `thing-controller` |\n",
    "docs/metrics.md": "| metric | labels |\n|---|---|\n| `things_made_total` | result, again | things |\n",
    "interpreter/native/workloads.cc": '  table.Add({"apps", "v1", "Deployment"}, {.retain = RetainReplicas});\n',
    "lua/scripts/example.io/v1/Widget/customizations.yaml": CUSTOMIZATION,
    "scripts/upstream/elsewhere.yaml": "- {area: metrics, names: [\"other_*\"], reason: nobody sees them}\n",
    "sandbox/api_server.h": '  std::string git_version = "v1.35.3";\n',
    "scripts/kubernetes-types/go.mod": "require (\n\tk8s.io/api v0.35.0\n)\n",
    "tests/config/data/upstream_flags.txt": "--feature-gates\n--log-dir\n--stop-at\n--v\n",
}


def write(folder, files):
    """Writes the files below the folder, and returns it."""
    for path, text in files.items():
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def changed(files, path, before, after):
    """The files, in one of which `before` is `after`."""
    assert before in files[path], f"{path} has no {before!r}"
    return files | {path: files[path].replace(before, after)}
