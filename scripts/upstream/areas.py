"""The areas that are compared: what each reads from a tree, and which table of this repository has to say the same."""

import functools
from dataclasses import dataclass
from typing import Callable, Optional

import definitions
import go_source
import programs
import surroundings
import trees

LIBRARY_GATES = {
    "k8s.io/apiserver": ("vendor/k8s.io/apiserver/pkg/features",),
    "k8s.io/client-go": ("vendor/k8s.io/client-go/features",),
    "k8s.io/component-base": ("vendor/k8s.io/component-base",),
}
FLAG_LIBRARIES = ("k8s.io/klog/v2", "k8s.io/component-base", "k8s.io/apiserver", "sigs.k8s.io/controller-runtime")
LIBRARY_METRICS = ("sigs.k8s.io/controller-runtime", "k8s.io/apiserver", "k8s.io/component-base")
API = ("pkg/apis",)
KEYS = ("pkg/apis", "pkg/util", "pkg/events", "pkg/controllers", "pkg/detector", "pkg/dependenciesdistributor",
        "pkg/resourceinterpreter", "pkg/search", "pkg/sharedcli", "pkg/modeling", "cmd/controller-manager", "cmd/search", "cmd/agent")
PARSED = tuple(dict.fromkeys(KEYS + programs.LOOPS + ("pkg/scheduler", "pkg/webhook", "pkg/estimator")))
# Which of upstream's validation and defaults runs outside of pkg/webhook.
ADMISSION = ("pkg/webhook", "pkg/util/validation", "pkg/util/helper/policy", "pkg/util/overridemanager")


class Upstream:
    """A tree with what several areas read of it."""

    def __init__(self, tree):
        self.tree = tree

    @functools.cached_property
    def go(self):
        return go_source.Sources(self.tree.files(*PARSED, suffixes=(".go",)), self.tree.module)

    def library(self, modules, wanted):
        """Sources of those files of the modules that have one of the words `wanted`; constants of other files are known."""
        files = {}
        for module in modules:
            found = self.tree.library(module)
            if found is None:
                raise trees.Unreadable(f"{self.tree.name}: {module} is neither in vendor/ nor in Go's module cache")
            files.update({path: text for path, text in found.items() if any(word in text for word in wanted)})
        return go_source.Sources(files, self.tree.module)

    @functools.cached_property
    def kubernetes(self):
        found = self.tree.library("k8s.io/api")
        if found is None:
            raise trees.Unreadable(f"{self.tree.name}: k8s.io/api is neither in vendor/ nor in Go's module cache")
        return go_source.Sources({p: t for p, t in found.items() if p.endswith("/types.go")}, self.tree.module)

    @functools.cached_property
    def literals(self):
        return programs.literals(self.go)

    @functools.cached_property
    def flag_libraries(self):
        """{module: all its Go sources as one text}."""
        return {module: "\n".join((self.tree.library(module) or {}).values()) for module in FLAG_LIBRARIES}

    def origin_of_flag(self, name):
        """The library that defines a flag; "" for a flag of Karmada's own, and for a gate."""
        flag = name.lstrip("-")
        names = [f'"{flag}"', f'"{flag.replace("-", "_")}"']
        if any(n in source.tokens for source in self.go.below("cmd", "pkg/sharedcli") for n in names):
            return ""
        return next((module for module, text in self.flag_libraries.items() if any(n in text for n in names)), "")


@dataclass(frozen=True)
class Area:
    key: str
    title: str
    read: Callable  # Upstream -> {name: value}.
    here: Optional[Callable] = None  # Tables -> (name, value) -> what is here: "" for the same, None for no table.
    nested: bool = False  # Names are paths: what is below a name that was added or removed is not listed.
    origin: Optional[Callable] = None  # (Upstream, name) -> where a row comes from.
    form: str = "value"  # "text": values are files; "code": names are "file: function".
    may_be_empty: bool = False


def flags_of(program, here):
    return Area(f"flags:{program}", f"Flags of {program}", lambda up: programs.flags(up.tree, program), here,
                origin=lambda up, name: up.origin_of_flag(name))


def crds(up):
    return definitions.crd_facts(up.tree.files("charts/karmada/_crds/bases", suffixes=(".yaml",)))


def library_gates(up):
    found = {}
    for module, folders in LIBRARY_GATES.items():
        sources = up.library([module], ("PreRelease",))
        found.update({f"{module} {name}": value for name, value in programs.gates(sources, folders).items()})
    return found


def library_metrics(up):
    sources = up.library(LIBRARY_METRICS, ("New",))
    return programs.metrics(sources, ["vendor/" + module for module in LIBRARY_METRICS])


def kubernetes_types(up):
    return with_types(definitions.types(up.kubernetes, ("vendor/k8s.io/api",)))


def with_types(fields):
    """The fields, and a name for each type, so that a new type is one row."""
    return {name.rpartition(".")[0]: "type" for name in fields} | fields


def api_types(up):
    found = with_types(definitions.types(up.go, API))
    for name, text in definitions.markers(up.tree.files(*API, suffixes=(".go",))).items():
        found[name + " validation"] = text
    return found


def loop_metrics(up):
    return programs.metrics(up.go, ("pkg/metrics", "pkg/controllers", "pkg/search", "pkg/util"))


def customizations(up):
    folder = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"
    return definitions.customizations(up.tree.files(folder, suffixes=("customizations.yaml",)), folder)


def code(*folders):
    """Functions, variables and types below the folders (or in files whose path begins so)."""
    def read(up):
        return {f"{s.path}: {name}": " ".join(tokens) for s in up.go.files if s.path.startswith(folders)
                for name, tokens in s.declared.items()}
    return read


def other_code(up):
    taken = ADMISSION + ("pkg/scheduler", "pkg/estimator", "pkg/apis", "pkg/features", "pkg/resourceinterpreter")
    return {name: value for name, value in code("pkg", "cmd")(up).items() if not name.startswith(taken)}


AREAS = (
    Area("release", "Newest release in upstream's list of changes",
         lambda up: {"newest release": surroundings.newest_release(up.tree)} if surroundings.newest_release(up.tree) else {},
         lambda tables: tables.release),
    Area("libraries", "Libraries (go.mod)", lambda up: surroundings.libraries(up.tree), lambda tables: tables.library),
    flags_of("karmada-controller-manager", lambda tables: tables.flag(("config/internal", "config"), tables.flag_list)),
    flags_of("karmada-search", lambda tables: tables.flag(("cmd/search",))),
    flags_of("karmada-agent", None),
    Area("gates", "Feature gates of Karmada", lambda up: programs.gates(up.go, ("pkg/features",)), lambda tables: tables.gate),
    Area("library-gates", "Feature gates of libraries: behaviour that is on without a flag", library_gates),
    Area("definitions", "Definitions (charts/karmada/_crds)", crds, lambda tables: tables.crd, nested=True),
    Area("types", "Types of the API (pkg/apis)", api_types, nested=True),
    Area("constants", "Labels, annotations, finalizers, taints, condition types and reasons that are constants",
         lambda up: {n: v for n, v in programs.constants(up.go, KEYS).items() if not v.replace(".", "").isdigit()},
         lambda tables: tables.constant),
    Area("controllers", "Controllers of karmada-controller-manager",
         lambda up: programs.controllers(up.go, programs.PROGRAMS["karmada-controller-manager"]), lambda tables: tables.controller),
    Area("agent-controllers", "Controllers of karmada-agent",
         lambda up: programs.controllers(up.go, programs.PROGRAMS["karmada-agent"])),
    Area("events", "Reasons of events, and who records them", lambda up: programs.event_reasons(up.go), lambda tables: tables.reason),
    Area("event-sources", "Components that write events", lambda up: programs.event_sources(up.go)),
    Area("reasons", "Reasons and other single words in the code of the loops", lambda up: up.literals[0]),
    Area("texts", "Messages in the code of the loops", lambda up: up.literals[1]),
    Area("metrics", "Metrics of Karmada", loop_metrics, lambda tables: tables.metric),
    Area("metric-calls", "Where the loops count, and with which labels", lambda up: programs.metric_calls(up.go)),
    Area("library-metrics", "Metrics of libraries", library_metrics),
    Area("rules", "Interpreter: rules for Kubernetes' own kinds", lambda up: programs.native_rules(up.go), lambda tables: tables.rule),
    Area("customizations", "Interpreter: shipped customizations", customizations, lambda tables: tables.customization),
    Area("interpreter-code", "Interpreter: code", code("pkg/resourceinterpreter"), form="code"),
    Area("admission", "Webhook: defaults and validation", code(*ADMISSION), form="code"),
    Area("webhooks", "Webhook: which requests it sees", lambda up: surroundings.text_facts(surroundings.webhooks(up.tree)), form="text"),
    Area("scheduler", "Scheduler and estimator: code", code("pkg/scheduler", "pkg/estimator"), form="code"),
    Area("code", "Loops, search and what they share: code", other_code, form="code"),
    Area("kubernetes", "Kubernetes' types (k8s.io/api)", kubernetes_types, nested=True),
    Area("kubernetes-constants", "Kubernetes' constants (k8s.io/api)",
         lambda up: programs.constants(up.kubernetes, ("vendor/k8s.io/api",))),
    Area("plane", "Versions of the default control plane, and of what upstream tests with",
         lambda up: surroundings.plane_versions(up.tree), lambda tables: tables.plane),
    Area("rights", "Rights (RBAC)", lambda up: surroundings.text_facts(surroundings.rights(up.tree)), form="text"),
    Area("values", "Charts: values", lambda up: surroundings.values(up.tree), nested=True),
    Area("manifests", "Charts and manifests: templates", lambda up: surroundings.text_facts(surroundings.manifests(up.tree)), form="text"),
    Area("changelog", "Upstream's own list of changes", lambda up: surroundings.changelog(up.tree), may_be_empty=True),
)
