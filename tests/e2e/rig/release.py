"""The release of Karmada whose definitions a control plane serves: programs behave as that release."""

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_CHANGED = ("resourcebindings.work.karmada.io", "clusterresourcebindings.work.karmada.io")
# By this field of bindings Karmada v1.19 is told from v1.18.
_COMPONENTS = {"type": "array", "items": {
    "type": "object", "required": ["name", "replicas"],
    "properties": {"name": {"type": "string"}, "replicas": {"type": "integer", "format": "int32"}}}}
SECONDS = 120  # Programs look once in a minute, and begin again.


def serve(host, release):
    """Has the control plane serve the definitions of bindings with or without what v1.19 has added to them."""
    has_components = release == "v1.19"
    for path in (f"{_DEFINITIONS}/{name}" for name in _CHANGED):
        versions = host.get(path)["spec"]["versions"]
        index = next(i for i, version in enumerate(versions) if version["name"] == "v1alpha2")
        served = versions[index]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        if ("components" in served["clusters"]["items"]["properties"]) == has_components:
            continue
        properties = f"/spec/versions/{index}/schema/openAPIV3Schema/properties/spec/properties"
        host.request("PATCH", path, [
            {"op": "add" if has_components else "remove", "value": _COMPONENTS,
             "path": f"{properties}/{clusters}/items/properties/components"}
            for clusters in ("clusters", "requiredBy/items/properties/clusters")], "application/json-patch+json")


def said(samples):
    """The releases as which a program's metrics say that it behaves."""
    return {labels["release"] for name, labels, value in samples if name == "karmada_emulated_release_info" and value == 1}
