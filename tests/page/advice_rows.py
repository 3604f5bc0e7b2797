"""Rows of tests/data/advice, each a situation in which something is wrong, made on the sandbox: what the page says first about each is known."""

import copy
import pathlib
import re
import urllib.parse

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "advice"
# What advice_test alone can make: members and planes of a row's own, steps in an order, webhooks.
NEEDS_MORE = {"own", "plane", "then", "first", "begins", "askFirst", "real"}
NEEDS_VALUE = ("$HOOK", "$CA", "$OTHERCA", "$OWN", "$WIDGETS")


def merged(target, patch):
    """A merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


class Row:
    """A situation in a namespace of its own."""

    def __init__(self, row, namespace):
        self._row = self._filled(row, namespace)
        self._base = self._filled(list(yaml.safe_load_all((DATA / "base.yaml").read_text(encoding="utf-8"))), namespace)
        self.namespace = namespace
        self.name = row["name"]
        ask = self._row.get("ask", {})
        self.kind, self.object = ask.get("kind", "Deployment"), ask.get("name", "web")
        self.type = self.kind + "".join(f".{part}" for part in reversed(ask.get("apiVersion", "apps/v1").split("/")))
        self.object_namespace = ask.get("namespace", namespace)
        self.cluster = ask.get("cluster", "")

    @staticmethod
    def _filled(value, namespace):
        text = yaml.safe_dump(value, sort_keys=False, width=100000)
        for name, filled in (("$LONG45", "l" * 45), ("$LONG", "l" * 200), ("$NS", namespace), ("$IN", "member1")):
            text = text.replace(name, filled)
        return yaml.safe_load(text)

    @property
    def headline(self):
        return self._row["headline"]

    @property
    def address(self):
        """Where the page shows it."""
        parts = [self.type, self.object_namespace or "-", self.object]
        address = "#/object/" + "/".join(urllib.parse.quote(part, safe="") for part in parts)
        return f"{address}?cluster={urllib.parse.quote(self.cluster)}" if self.cluster else address

    @property
    def query(self):
        """What asks the same of api/object."""
        given = {"type": self.type, "namespace": self.object_namespace, "name": self.object, "cluster": self.cluster}
        return urllib.parse.urlencode(given)

    def says(self, headline):
        """Whether this is the first line that the row has."""
        wanted = re.escape(self.headline).replace(r"\$TIME", ".*").replace(r"\$ANY", ".*")
        return re.fullmatch(wanted, headline.rstrip("."), re.IGNORECASE | re.DOTALL) is not None

    def make(self, sandbox):
        for member, objects in self._row.get("members", {}).items():
            for manifest in objects:
                sandbox.member(member).create_in(self.namespace, manifest)
        patches = self._row.get("base", {})
        for manifest in copy.deepcopy(self._base):
            key = f"{manifest['kind']} {manifest['metadata']['name']}"
            if key not in patches:
                sandbox.create_in(self.namespace, manifest)
            elif patches[key] is not None:
                sandbox.create_in(self.namespace, merged(manifest, patches[key]))
        for manifest in self._row.get("objects", []):
            sandbox.create_in(self.namespace, manifest)


def rows():
    """Those that can be made here, each in a namespace that no other has."""
    number = 0
    for path in sorted(DATA.glob("*.yaml")):
        if path.name == "base.yaml":
            continue
        for row in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            text = yaml.safe_dump(row) if row else ""
            if not row or NEEDS_MORE & set(row) or any(value in text for value in NEEDS_VALUE) or not row.get("advice"):
                continue
            number += 1
            yield Row(row, f"row-{number}")


def make_all(sandbox):
    """Makes all of them, and returns them."""
    made = list(rows())
    for row in made:
        row.make(sandbox)
    return made
