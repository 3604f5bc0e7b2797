"""What upstream's API looks like: definitions (CRDs), Go types with JSON names, and Kubernetes' types that it embeds."""

import hashlib
import re

import yaml

import go_source

# What a schema says about a value, but for its description.
RULES = ("default", "enum", "format", "maximum", "minimum", "maxItems", "minItems", "maxLength", "minLength", "maxProperties",
         "minProperties", "pattern", "uniqueItems", "nullable", "oneOf", "anyOf", "allOf", "not", "x-kubernetes-int-or-string",
         "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-list-type",
         "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_all(text):
    return [d for d in yaml.load_all(text, Loader=LOADER) if d]


def crd_facts(files):
    """{"ResourceBinding v1alpha2 spec.clusters[].name": "string, required"} and facts about each definition itself."""
    found = {}
    for text in files.values():
        for document in load_all(text):
            if document.get("kind") == "CustomResourceDefinition":
                found.update(of_definition(document["spec"]))
    return found


def of_definition(spec):
    kind = spec["names"]["kind"]
    found = {f"{kind} scope": spec.get("scope", ""),
             f"{kind} names": say({k: v for k, v in spec["names"].items() if k not in ("kind", "listKind")})}
    for version in spec["versions"]:
        name = f"{kind} {version['name']}"
        found[name] = "served" if version.get("served") else "not served"
        if version.get("storage"):
            found[name] += ", stored"
        found[f"{name} subresources"] = say(version.get("subresources", {}))
        for column in version.get("additionalPrinterColumns", []):
            found[f"{name} column {column['name']}"] = say({k: v for k, v in column.items() if k not in ("name", "description")})
        schema = version.get("schema", {}).get("openAPIV3Schema")
        if schema:
            add_schema(found, name + " ", "", schema, False)
    return found


def add_schema(found, prefix, path, schema, required):
    if path:
        rules = {r: schema[r] for r in RULES if r in schema}
        text = schema.get("type", "any") + (", required" if required else "")
        found[prefix + path] = text + "".join(f", {name}: {say(value)}" for name, value in sorted(rules.items()))
    needed = set(schema.get("required", []))
    for name, below in schema.get("properties", {}).items():
        add_schema(found, prefix, f"{path}.{name}".lstrip("."), below, name in needed)
    if isinstance(schema.get("items"), dict):
        add_schema(found, prefix, path + "[]", schema["items"], False)
    if isinstance(schema.get("additionalProperties"), dict):
        add_schema(found, prefix, path + "{}", schema["additionalProperties"], False)


def say(value):
    """One line for a value of YAML; long ones by their beginning and a digest."""
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{k}: {say(v)}" for k, v in sorted(value.items())) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(say(v) for v in value) + "]"
    else:
        text = {True: "true", False: "false", None: "null"}.get(value, str(value)) if not isinstance(value, int) or \
            isinstance(value, bool) else str(value)
    if len(text) > 300:
        return f"{text[:280]}... (sha256 {hashlib.sha256(text.encode()).hexdigest()[:8]})"
    return text


MARKER = re.compile(r"^\s*//\s*(\+(?:kubebuilder:(?:validation|default|printcolumn|subresource)|default|required)\S*.*)$")


def types(sources, folders):
    """{"folder.Type.jsonName": "type, options"} of the structs below the folders."""
    found = {}
    for source in sources.below(*folders):
        for name, tokens in source.declared.items():
            for field, (json_name, kind, options) in (go_source.struct_fields(tokens) or {}).items():
                found[f"{source.folder}.{name}.{json_name or field}"] = kind + (f", {options}" if options else "")
    return found


def markers(files):
    """{"file: type or field": markers} of the validation that upstream's generators take from comments."""
    found = {}
    for path, text in files.items():
        pending, owner = [], ""
        for line in text.splitlines():
            marker = MARKER.match(line)
            declared = re.match(r"^type (\w+) |^\t(\w+)\s+\S.*`json:", line)
            if marker:
                pending.append(marker.group(1))
            elif declared:
                owner = declared.group(1) or owner
                key = owner if declared.group(1) else f"{owner}.{declared.group(2)}"
                if pending:
                    found[f"{path.rpartition('/')[0]}.{key}"] = " ".join(pending)
                pending = []
            elif not line.strip().startswith("//"):
                pending = []
    return found


def customizations(files, folder):
    """{"group/version/Kind: Operation": digest of the script} of shipped customizations."""
    found = {}
    for path, text in files.items():
        if not path.startswith(folder + "/"):
            continue
        kind = path[len(folder) + 1:].rpartition("/")[0]
        for document in load_all(text):
            for operation, rule in (document.get("spec", {}).get("customizations") or {}).items():
                found[f"{kind}: {operation}"] = hashlib.sha256(say_all(rule).encode()).hexdigest()[:12]
    return found


def say_all(rule):
    return repr(sorted(rule.items())) if isinstance(rule, dict) else repr(rule)
