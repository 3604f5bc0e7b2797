"""Pods as a cluster has them: what a controller creates and a kubelet reports."""

import json

NAMESPACES = 50
PODS = "/api/v1/namespaces/team-{group}/pods"
NAME = "web-7d4b9c6f5d-{n}"
# {n} and {group} are filled in by search_load.
_TIME = "2026-11-22T10:00:00Z"


def pod(node):
    """A pod as it is created."""
    env = [{"name": f"SETTING_{i}", "value": f"value-{{n}}-{i}"} for i in range(3)]
    container = {
        "name": "web", "image": "registry.example.com/team/web:1.2.3", "imagePullPolicy": "IfNotPresent",
        "ports": [{"containerPort": 8080}], "env": env,
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": "kube-api-access", "readOnly": True,
                          "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]}
    volume = {"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]}}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d4b9c6f5d", "controller": True,
             "uid": "3f1c9e2a-7a1b-4c58-9d0e-51f2a6b7c8d9", "blockOwnerDeletion": True}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": NAME, "namespace": "team-{group}", "generateName": "web-7d4b9c6f5d-",
                     "labels": {"app": "web", "pod-template-hash": "7d4b9c6f5d", "group": "{group}"},
                     "ownerReferences": [owner]},
        "spec": {"containers": [container], "volumes": [volume], "nodeName": node, "serviceAccountName": "default"}}


def status():
    """What its kubelet reports."""
    conditions = [{"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": _TIME}
                  for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")]
    container = {"name": "web", "image": "registry.example.com/team/web:1.2.3", "ready": True, "started": True,
                 "restartCount": 0, "state": {"running": {"startedAt": _TIME}}, "lastState": {},
                 "imageID": "registry.example.com/team/web@sha256:" + "0123456789abcdef" * 4,
                 "containerID": "containerd://" + "fedcba9876543210" * 4}
    return {"phase": "Running", "hostIP": "10.0.0.7", "podIP": "10.244.1.8",
            "podIPs": [{"ip": "10.244.1.8"}], "startTime": _TIME, "qosClass": "Burstable",
            "conditions": conditions, "containerStatuses": [container]}


def write_body(file, document):
    """A file with a body for Load.requests."""
    file.write_text(json.dumps(document, separators=(",", ":")))
    return file


def whole(node):
    """A pod with its status and who owns what in it, for servers that record neither. It has no owner: the sandbox's
    garbage collector deletes pods whose owner it does not know; an annotation takes the same room."""
    made, reported = pod(node), status()
    made["metadata"]["annotations"] = {"bench/owner": json.dumps(made["metadata"].pop("ownerReferences"))}
    fields = [("kube-controller-manager", {"metadata": made["metadata"], "spec": made["spec"]}, None),
              ("kubelet", {"status": reported}, "status")]
    made["metadata"]["managedFields"] = [
        {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": _TIME, "fieldsType": "FieldsV1",
         "fieldsV1": _owned(owned), **({"subresource": part} if part else {})} for manager, owned, part in fields]
    return {**made, "status": reported}


def _owned(value):
    """The fields of a value in the form of managedFields."""
    if isinstance(value, dict):
        return {f"f:{name}": _owned(member) for name, member in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        first = next(name for name in ("type", "name", "ip", "uid", "key", "containerPort", *value[0]) if name in value[0])
        return {f'k:{{"{first}":{json.dumps(item[first])}}}': {".": {}, **_owned(item)} for item in value if first in item}
    return {}


def fill_server(load, folder, numbers, node):
    """Creates pods (a range of numbers), each in two steps by two writers, as controllers and kubelets do: so an API
    server records in managedFields who owns what."""
    options = {"count": len(numbers), "from": numbers.start, "groups": NAMESPACES, "connections": 16}
    create = write_body(folder / "pod.json", pod(node))
    load.requests(PODS + "?fieldManager=kube-controller-manager", method="POST", body_file=create, **options)
    report = write_body(folder / "status.json", {"status": status()})
    load.requests(f"{PODS}/{NAME}/status?fieldManager=kubelet", method="PATCH", body_file=report,
                  content_type="application/strategic-merge-patch+json", **options)


def fill_sandbox(load, folder, numbers, node):
    """Creates pods (a range of numbers) whole, where no managedFields are recorded."""
    load.requests(PODS, method="POST", body_file=write_body(folder / "pod.json", whole(node)), count=len(numbers),
                  groups=NAMESPACES, connections=4, **{"from": numbers.start})
