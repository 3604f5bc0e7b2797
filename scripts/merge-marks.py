#!/usr/bin/env python3
"""Prints kube/server/wire/wire_schema_marks.cc: how server-side apply merges the fields of built-in types.

It reads the schema that client-go has for apply configurations, and the Go structs of k8s.io/api and k8s.io/apimachinery, of
one release, from the module cache of Go. wire_schema.h describes the notation.

    scripts/merge-marks.py v0.35.3 > kube/server/wire/wire_schema_marks.cc && clang-format -i kube/server/wire/wire_schema_marks.cc
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap

import yaml

_PACKAGES = ("admissionregistration/v1", "apps/v1", "authentication/v1", "authorization/v1", "autoscaling/v1", "autoscaling/v2",
             "batch/v1", "certificates/v1", "coordination/v1", "core/v1", "discovery/v1", "events/v1", "networking/v1", "node/v1",
             "policy/v1", "rbac/v1", "scheduling/v1", "storage/v1")
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t\w+ +(\S+) +`json:"([^",]+)([^"]*)"', re.MULTILINE)
_HEAD = """// How server-side apply merges the fields of built-in types, as k8s.io/client-go {} has it. Made by
// scripts/merge-marks.py. See wire_schema.h for the notation.
#include "kube/server/wire/wire_schema.h"

namespace kube::server {{

absl::string_view MergeMarks() {{
  return R"("""
_TAIL = """)";
}

}  // namespace kube::server
"""


def main():
    version = sys.argv[1]
    modules = pathlib.Path(subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip())
    code = (modules / f"k8s.io/client-go@{version}/applyconfigurations/internal/internal.go").read_text()
    types = {t["name"]: t for t in yaml.safe_load(re.search(r"YAMLObject\(`(.*?)`\)", code, re.DOTALL).group(1))["types"]}
    lines = []
    for package in ("meta/v1", *_PACKAGES):
        group, number = package.split("/")
        is_meta = package == "meta/v1"
        prefix = _META if is_meta else f"io.k8s.api.{group}.{number}"
        folder = modules / (f"k8s.io/apimachinery@{version}/pkg/apis/{package}" if is_meta else f"k8s.io/api@{version}/{package}")
        implied = _implied("".join((folder / name).read_text() for name in ("types.go",)))
        name_here = "autoscalingv1" if package == "autoscaling/v1" else group
        for name in sorted(types):
            if name.rpartition(".")[0] == prefix:
                words = _marks(types, name, implied.get(name.rpartition(".")[2], {}))
                if words:
                    lines += textwrap.wrap(" ".join([f"{name_here}.{name.rpartition('.')[2]}", *words]), 100, subsequent_indent="  ",
                                           break_long_words=False, break_on_hyphens=False)
    print(_HEAD.format(version) + "\n".join(lines) + _TAIL, end="")


def _implied(code):
    """What a struct of Go has even if nothing was set: struct to field to its mark."""
    out = {}
    for struct, body in _STRUCT.findall(code):
        for kind, name, options in _FIELD.findall(body):
            if kind in ("metav1.Time", "metav1.MicroTime", "Time", "MicroTime"):
                out.setdefault(struct, {})[name] = "?"
            elif kind.startswith(("[]", "map[")) and "omitempty" not in options:
                out.setdefault(struct, {})[name] = "?"
    return out


def _marks(types, name, implied):
    map_type = types[name].get("map", {})
    words = ["!"] if map_type.get("elementRelationship") == "atomic" else []
    for field in map_type.get("fields", []):
        mark = _mark(types, field) or ""
        if field.get("default") == {}:
            mark += "+"
        mark += implied.get(field["name"], "")
        if mark:
            words.append(field["name"] + mark)
    return words


def _mark(types, field):
    kind = field["type"]
    if kind.get("elementRelationship") == "atomic" or kind.get("map", {}).get("elementRelationship") == "atomic":
        return "!"
    items = kind.get("list", {})
    if items.get("elementRelationship") != "associative":
        return None
    if not items.get("keys"):
        return "="
    fields = {f["name"]: f for f in types[items["elementType"]["namedType"]]["map"]["fields"]}
    return "=" + ",".join(key + (":" + json.dumps(fields[key]["default"]) if "default" in fields[key] else "")
                          for key in items["keys"])


if __name__ == "__main__":
    main()
