"""The tables of this repository that have to say what upstream has.

Each method takes a fact of upstream (its name and value) and returns "" if the table says the same, else what is here, and
None for a fact that the table is not about.
"""

import fnmatch
import pathlib
import re

import yaml

import definitions
import surroundings
import trees

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Folders with sources of the programs.
SKIPPED = {"build", "tests", "docs", "scripts", "packaging", "charts", "cmake", ".git"}
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OPERATIONS = {  # Upstream's name of an operation -> the member of Handlers.
    "Replica": "get_replicas", "ReviseReplica": "revise_replica", "Retention": "retain", "AggregateStatus": "aggregate_status",
    "Dependencies": "get_dependencies", "ReflectStatus": "reflect_status", "Health": "interpret_health",
}
FLAG_LIST = "tests/config/data/upstream_flags.txt"
# What a table says that has names only: whether the value is upstream's, too, only the code says.
BY_HAND = "has the name; whether it has the value, too, only its code says"
SWITCHES = {"AllAlpha", "AllBeta"}
# Constants that others can see, and how they are written.
SHOWN = ("pkg/apis/", "pkg/events.", "pkg/util.", "pkg/util/names.")
WORD = re.compile(r"[A-Za-z][\w./-]*$")


class Tables:
    def __init__(self, root=ROOT):
        self.root = pathlib.Path(root)
        self.literals = {}  # Folder of sources -> their string literals.
        for top in sorted(p for p in self.root.iterdir() if p.is_dir() and p.name not in SKIPPED):
            for path in [*top.rglob("*.cc"), *top.rglob("*.h")]:
                found = self.literals.setdefault(path.parent.relative_to(self.root).as_posix(), set())
                found.update(STRING.findall(path.read_text(errors="replace")))
        self.all_literals = set().union(*self.literals.values())
        self.crds = self.crds_as_of("")
        self.customizations = definitions.customizations(
            {p.relative_to(self.root).as_posix(): p.read_text() for p in (self.root / "lua/scripts").rglob("*.yaml")}, "lua/scripts")
        self.releases = self.release_table()
        self.gate_levels = self.read_gates()
        self.gate_table = self.gates_as_of(None)
        self.elsewhere = yaml.safe_load(self.read("scripts/upstream/elsewhere.yaml")) or []
        self.controller_table = dict(re.findall(r'^    \{"(\w+)", (true|false), k', self.read("config/support.cc"), re.MULTILINE))
        self.reasons = set(re.findall(r"^\|[^|]*\| `(\w+)`", self.read("docs/events.md"), re.MULTILINE))
        self.metric_table = self.read_metrics()
        self.rules = self.read_rules()
        self.flag_list = set(self.read(FLAG_LIST).split())
        for path, table in {"config/crds": self.crds, "lua/scripts": self.customizations, "config/release.h": self.releases,
                            "config/feature_gates.cc": self.gate_table, "config/support.cc": self.controller_table,
                            "docs/events.md": self.reasons, "docs/metrics.md": self.metric_table,
                            "interpreter/native": self.rules, FLAG_LIST: self.flag_list}.items():
            if not table:
                raise trees.Unreadable(f"{self.root}: nothing was found in {path}: scripts/upstream/tables.py has to be taught its form")

    def read(self, path):
        file = self.root / path
        return file.read_text() if file.is_file() else ""

    def release_table(self):
        """{"v1.18": "v1.18.2"} of config/release.h."""
        text = self.read("config/release.h")
        names = dict(re.findall(r'\{Release::(\w+), "(v\d+\.\d+)"\}', text))
        compared = dict(re.findall(r'\{Release::(\w+),\s+"(v\d+\.\d+\.\d+[^"]*)"\}', text))
        return {short: compared.get(release, "") for release, short in names.items()}

    def read_gates(self):
        """[(gate, release since which it is so, "Beta, on")]; "" for the first release that is emulated."""
        text = self.read("config/feature_gates.cc")
        levels, names = [], {}
        for gate, name, on, stage in re.findall(r'\{Gate::(\w+), "(\w+)", (true|false),\s*Stage::k(\w+)', text):
            names[gate] = name
            levels.append((name, "", f"{stage}, {'on' if on == 'true' else 'off'}"))
        for gate, release, on, stage in re.findall(r"\{Gate::(\w+), Release::k(\w+), \{(true|false), Stage::k(\w+)\}\}", text):
            since = release.lower().replace("_", ".")  # V1_19: v1.19.
            levels.append((names[gate], since, f"{stage}, {'on' if on == 'true' else 'off'}"))
        return levels

    def crds_as_of(self, version):
        """The facts of the definitions as of a release ("v1.19"): those of its folder, and of folders of earlier releases, take the
        place of those of the same name; "": those of the first release."""
        crds = self.root / "config/crds"
        folders = sorted((p for p in crds.glob("v*") if version and surroundings.order(p.name) <= surroundings.order(version)),
                         key=lambda p: surroundings.order(p.name))
        return definitions.crd_facts({p.name: p.read_text() for folder in [crds, *folders] for p in folder.glob("*.yaml")})

    def gates_as_of(self, release):
        """{gate: "Beta, on"} as this program has it when it behaves as `release` ("v1.19"); None: the newest."""
        return {name: level for name, since, level in self.gate_levels
                if release is None or surroundings.order(since) <= surroundings.order(release)}

    def behave_as(self, version):
        """The tables say from now on what holds for a control plane of `version` ("v1.19.0-rc.0"); "" for the newest."""
        release = ".".join(version.split("-")[0].split(".")[:2]) if version else max(self.releases, key=surroundings.order)
        self.gate_table = self.gates_as_of(release)
        self.crds = self.crds_as_of(release)

    def reason_elsewhere(self, area, name):
        """Why no table needs the fact; "" for one that a table has to have."""
        return next((entry["reason"] for entry in self.elsewhere if entry["area"] == area and
                     any(fnmatch.fnmatchcase(name, pattern) for pattern in entry["names"])), "")

    def read_metrics(self):
        """{name: labels} of docs/metrics.md."""
        table = {}
        for names, labels in re.findall(r"^\| (`[^|]*) \|([^|]*)\|", self.read("docs/metrics.md"), re.MULTILINE):
            for name in re.findall(r"`([a-z_]+)`", names):
                table[name] = table.get(name) or labels.strip()
        return table

    def read_rules(self):
        """{(operation, version, kind)} of interpreter/native. Groups are left out: upstream names packages instead."""
        found = set()
        for path in (self.root / "interpreter/native").glob("*.cc"):
            for version, kind, members in re.findall(r'table\.Add\(\s*\{"[^"]*", "([^"]*)", "(\w+)"\},\s*\{(.*?)\}\);',
                                                     path.read_text(), re.DOTALL):
                found.update((member, version, kind) for member in re.findall(r"\.(\w+) =", members))
        return found

    # ---- Facts of upstream against the tables -----------------------------------------------------------------

    def flag(self, folders, listed=None):
        """Of a program whose flags the sources of the folders name, and the list `listed`."""
        known = set().union(*(self.literals.get(folder, set()) for folder in folders))

        def compare(name, _value):
            flag, _, gate = name.partition(" ")
            flag = flag.replace("_", "-")
            if gate:
                # karmada-search reads no gate; the gates of its libraries have no table.
                if gate.startswith("kube:"):
                    return None
                return "" if gate in self.gate_table or gate in SWITCHES else "config/feature_gates.cc has no such gate"
            # "--v" is written "-v,--v".
            is_known = flag in known or any(flag in s.split(",") for s in known if s.startswith("-"))
            lacks = [] if is_known else [f"{folders[0]} has no flag of this name"]
            if listed is not None and flag not in listed:
                lacks.append(f"{FLAG_LIST} lacks it")
            return ", and ".join(lacks) or BY_HAND
        return compare

    def gate(self, name, value):
        have = self.gate_table.get(name)
        return "" if have == value else f"config/feature_gates.cc has {have or 'no such gate'}"

    def controller(self, name, value):
        have = {"true": "on", "false": "off"}.get(self.controller_table.get(name, ""))
        return "" if have == value else f"config/support.cc has {have or 'no such controller'}"

    def crd(self, name, value):
        have = self.crds.get(name)
        return "" if have == value else f"config/crds has {have or 'nothing'}"

    def constant(self, name, value):
        """Of constants that others can see; names of kinds are in the table of kinds."""
        if not name.startswith(SHOWN) or not WORD.match(value) or value == "iota" or ".ResourceSingular" in name:
            return None
        return "" if value in self.all_literals else f"no source has \"{value}\""

    def reason(self, name, value):
        """Of reasons that the loops record: others are the scheduler's."""
        return "" if name in self.reasons or value == "recorded nowhere" else "docs/events.md has no row of this reason"

    def metric(self, name, value):
        have = self.metric_table.get(name)
        if have is None:
            return "docs/metrics.md does not name it"
        labels = re.search(r"labels: ([^;]*)", value)
        wanted = set(re.findall(r"\w+", labels.group(1))) - {"none"} if labels else set()
        lacking = sorted(wanted - set(re.findall(r"\w+", have)))
        return f"docs/metrics.md has the labels \"{have}\"" if lacking and "..." not in have else ""

    def rule(self, name, _value):
        operation, package, kind = name.split(" ")
        member = OPERATIONS.get(operation, operation)
        has = (member, package.partition("/")[2], kind) in self.rules
        return "" if has else f"interpreter/native has no {member} for {package} {kind}"

    def customization(self, name, _value):
        return BY_HAND if name in self.customizations else "lua/scripts has no such rule"

    def library(self, name, value):
        """Of the libraries whose types kube/schema has."""
        if name not in ("k8s.io/api", "k8s.io/client-go"):
            return None
        pinned = re.search(r"^\s*%s (v\S+)" % re.escape(name), self.read("scripts/kubernetes-types/go.mod"), re.MULTILINE)
        if not pinned:
            return None
        # The types of a newer Kubernetes have all fields of an older one that objects may still have.
        is_older = surroundings.order(pinned.group(1)) < surroundings.order(value)
        return f"scripts/kubernetes-types/go.mod has {pinned.group(1)}" if is_older else ""

    def release(self, _name, value):
        short = ".".join(value.split("-")[0].split(".")[:2])
        if short in self.releases:
            # A tag's own entry is written after it.
            compared = self.releases[short]
            return "" if surroundings.order(compared) >= surroundings.order(value) else f"config/release.h compares {short} with {compared}"
        return f"config/release.h has no release {short}"

    def plane(self, name, value):
        if "KARMADA_APISERVER_VERSION" not in name:
            return None
        have = re.search(r'git_version = "([^"]*)"', self.read("sandbox/api_server.h"))
        if not have or have.group(1).split(".")[:2] == value.split(".")[:2]:
            return ""
        return f"sandbox/api_server.h has {have.group(1)}"
