"""What stands around upstream's programs: libraries, charts, manifests, rights, the versions of the default plane."""

import difflib
import re

import definitions

VERSION = r"v?\d+\.\d+\.\d+(?:-[\w.]+)?"
# Modules whose behaviour shows through in upstream's programs; the others are named with `--all`.
TELLING = re.compile(r"^(k8s\.io/|sigs\.k8s\.io/|github\.com/yuin/gopher-lua|github\.com/prometheus/|github\.com/opensearch|"
                     r"github\.com/kr/|layeh\.com/|github\.com/adhocore/|github\.com/go-co-op/)")


def libraries(tree):
    return {module: tree.versions[module] for module in tree.direct if TELLING.match(module)}


def values(tree):
    """{"karmada: etcd.internal.image.tag": "3.6"} of the charts' values.yaml."""
    found = {}
    for path, text in tree.files("charts", suffixes=("values.yaml",)).items():
        for document in definitions.load_all(text):
            add_values(found, path.split("/")[1] + ": ", "", document)
    return found


def add_values(found, prefix, path, value):
    if isinstance(value, dict) and value:
        for name, below in value.items():
            add_values(found, prefix, f"{path}.{name}".lstrip("."), below)
    else:
        found[prefix + path] = definitions.say(value)


def plane_versions(tree):
    """{"hack/deploy-karmada.sh KARMADA_APISERVER_VERSION": "v1.36.2"}: images and versions that upstream installs or tests."""
    found = {}
    shell = re.compile(r"^\s*(?:export |local )?([A-Za-z_]*(?:VERSION|IMAGE)[A-Za-z_]*)=.*?(%s)" % VERSION, re.MULTILINE)
    for path, text in tree.files("hack", suffixes=(".sh",)).items():
        for name, version in shell.findall(text):
            found[f"{path} {name}"] = version
    literal = re.compile(r"\"([^\"\s]*?[:\"]?)(%s)\"" % VERSION)
    named = re.compile(r"(\w+)(?:\s+string)?\s*(?:=|,)\s*$")
    for path, text in tree.files("operator/pkg/constants", "pkg/karmadactl/cmdinit", suffixes=(".go",)).items():
        for match in literal.finditer(text):
            before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            if before.lstrip().startswith("//"):
                continue
            flag = re.search(r'"([\w-]+)", *$', before)
            name = named.search(before)
            label = flag.group(1) if flag else name.group(1) if name else before.strip()[:40]
            found[f"{path} {label}"] = match.group(1) + match.group(2)
    for path, text in tree.files(".github/workflows", suffixes=(".yml", ".yaml")).items():
        for name, listed in re.findall(r"([\w-]+): \[([^\]]*v\d+\.\d+\.\d+[^\]]*)\]", text):
            found[f"{path} {name}"] = " ".join(v.strip() for v in listed.split(","))
    for path, text in tree.files("artifacts", suffixes=(".yaml",)).items():
        for image, version in re.findall(r"image:\s*(\S+?):(%s)\s*$" % VERSION, text, re.MULTILINE):
            found[f"{path} {image}"] = version
    return found


def manifests(tree):
    """{path: text} of what is installed besides definitions: templates, artifacts, and the roles that upstream's tools make."""
    found = tree.files("artifacts", "operator/config", suffixes=(".yaml", ".tpl"))
    found.update({p: t for p, t in tree.files("charts", suffixes=(".yaml", ".tpl", ".txt")).items() if "/templates/" in p})
    return found


ROLE = re.compile(r"kind:\s*(?:Cluster)?Role\b|PolicyRule\{|rbac", re.IGNORECASE)


def rights(tree):
    """{path: text} of what grants rights."""
    found = {p: t for p, t in manifests(tree).items() if ROLE.search(t)}
    found.update({p: t for p, t in tree.files("pkg/karmadactl", "operator/pkg", "pkg/util", suffixes=(".go",)).items()
                  if "PolicyRule{" in t or "PolicyRules" in t})
    return found


def webhooks(tree):
    """{path: text} of what says which requests upstream's webhook sees."""
    return {p: t for p, t in manifests(tree).items() if "WebhookConfiguration" in t}


def text_facts(files):
    """{path: text without blank ends}: files that are compared as they are."""
    return {path: "\n".join(line.rstrip() for line in text.splitlines()) for path, text in files.items()}


def lines_changed(before, after):
    """(lines that were removed, lines that were added)."""
    removed, added = [], []
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0):
        if line.startswith("-") and not line.startswith("---"):
            removed.append(line[1:].strip())
        elif line.startswith("+") and not line.startswith("+++"):
            added.append(line[1:].strip())
    return removed, added


def changelog(tree):
    """{entry: release} of upstream's own list of changes."""
    found = {}
    for path, text in tree.files("docs/CHANGELOG", suffixes=(".md",)).items():
        release = ""
        for line in text.splitlines():
            heading = re.match(r"# (v\S+)", line)
            release = heading.group(1) if heading else release
            entry = re.match(r"\s*[-*] (.+)", line)
            if entry and release and "](#" not in line:
                found[entry.group(1).strip()] = release
    return found


def newest_release(tree):
    """The newest release of docs/CHANGELOG; "" without one."""
    releases = set(changelog(tree).values())
    return max(releases, key=order, default="")


def order(release):
    """Sorts v1.19.0-rc.0 before v1.19.0."""
    numbers = [int(n) for n in re.findall(r"\d+", release.partition("-")[0])]
    return numbers, 0 if "-" in release else 1, release
