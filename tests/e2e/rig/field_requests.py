"""The requests of tests/data/fields, sent to an API server, and what it answered, without what differs from run to run."""

import json
import pathlib

import yaml

from . import paths
from .kube import ApiError

_DATA = paths.ROOT / "tests" / "data" / "fields"
_ANSWERS = _DATA / "answers.json"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATCHES = {"apply": "application/apply-patch+yaml", "merge": "application/merge-patch+json", "json": "application/json-patch+json",
            "strategic": "application/strategic-merge-patch+json"}
_OWNER = ("operation", "manager", "apiVersion", "subresource")
_METADATA = ("annotations", "finalizers", "labels", "managedFields", "ownerReferences")


def cases():
    return yaml.safe_load((_DATA / "requests.yaml").read_text())


def recorded():
    return json.loads(_ANSWERS.read_text())


def record(answers):
    pathlib.Path(_ANSWERS).write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")


def prepare(kube):
    """Makes the namespace and the custom resource that the requests need."""
    kube.create("/api/v1/namespaces", {"metadata": {"name": "fields"}})
    definition = yaml.safe_load((_DATA / "definition.yaml").read_text())
    kube.create(_DEFINITIONS, definition)
    kube.wait_established(definition["metadata"]["name"])
    kube.get("/apis/example.com/v1/namespaces/fields/gadgets")


def clean(kube):
    kube.delete(f"{_DEFINITIONS}/gadgets.example.com")
    for namespace in ("fields", "fields-m"):
        kube.delete(f"/api/v1/namespaces/{namespace}")


def send(kube, step):
    """The answer to one request."""
    kind, path = next((key, step[key]) for key in ("post", "put", "get", *_PATCHES) if key in step)
    query = "&".join(filter(None, [f"fieldManager={step['by']}" if "by" in step else "", step.get("query", "")]))
    method = "PATCH" if kind in _PATCHES else kind.upper()
    try:
        answer = kube.request(method, f"{path}?{query}" if query else path, step.get("body"), _PATCHES.get(kind, "application/json"))
    except ApiError as error:
        status = json.loads(error.body)
        causes = [[cause.get("field", ""), cause.get("message", "")] for cause in status.get("details", {}).get("causes", [])]
        return {"code": error.code, "message": status.get("message", ""), "causes": sorted(causes)}
    return _of_object(answer)


def _of_object(answer):
    metadata = {key: value for key, value in answer["metadata"].items() if key in _METADATA}
    for entry in metadata.get("managedFields", []):
        if "time" in entry:
            entry["time"] = "set"
    # Their order depends on who came in the same second.
    metadata.get("managedFields", []).sort(key=lambda entry: [entry.get(key, "") for key in _OWNER])
    spec = {key: value for key, value in answer.get("spec", {}).items() if key not in ("clusterIP", "clusterIPs")}
    parts = {"data": answer.get("data"), "metadata": metadata, "rules": answer.get("rules"), "spec": _full(spec),
             "status": _full(answer.get("status"))}
    return {key: value for key, value in parts.items() if value}


def _full(value):
    """Without members that are empty or zero, which servers write as they like."""
    if isinstance(value, list):
        return [_full(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: _full(member) for key, member in value.items()}
    return {key: member for key, member in members.items() if member not in (None, {}, [], 0)}
