"""What the rig gives its servers to read: kwok's stages, the audit policy, member nodes."""

# Fake nodes become Ready, fake pods run at once and go when they are deleted.
KWOK_STAGES = """\
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: node-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
    - key: '.status.conditions.[] | select( .type == "Ready" ) | .status'
      operator: NotIn
      values: ["True"]
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      addresses:
      - type: InternalIP
        address: {{ NodeIP }}
      daemonEndpoints:
        kubeletEndpoint:
          Port: {{ NodePort }}
      conditions:
      - type: Ready
        status: "True"
        reason: KubeletReady
        message: simulated
        lastHeartbeatTime: {{ $now }}
        lastTransitionTime: {{ $now }}
---
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: '.metadata.deletionTimestamp', operator: DoesNotExist}
    - {key: '.status.podIP', operator: DoesNotExist}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      hostIP: 127.0.0.1
      podIP: {{ PodIPWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace }}
      startTime: {{ $now }}
      conditions:
      - {type: Initialized, status: "True", lastTransitionTime: {{ $now }}}
      - {type: Ready, status: "True", lastTransitionTime: {{ $now }}}
      - {type: ContainersReady, status: "True", lastTransitionTime: {{ $now }}}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name }}
        image: {{ .image }}
        imageID: ""
        ready: true
        restartCount: 0
        state: {running: {startedAt: {{ $now }}}}
      {{ end }}
---
kind: Stage
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: pod-gone}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions: [{key: '.metadata.deletionTimestamp', operator: Exists}]
  next: {delete: true, finalizers: {empty: true}}
"""

# What the kubelets of a cluster answer: all containers log into one file, whose end those see who are attached, commands
# run on this machine, and every port sends back what it gets.
KWOK_CONTAINERS = """\
---
kind: ClusterLogs
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {{name: all}}
spec:
  logs: [{{logsFile: {logs}, follow: false}}]
---
kind: ClusterExec
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {{name: all}}
spec:
  execs:
  - local:
      envs: [{{name: CLUSTER, value: {cluster}}}]
---
kind: ClusterAttach
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {{name: all}}
spec:
  attaches: [{{logsFile: {logs}}}]
---
kind: ClusterPortForward
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {{name: all}}
spec:
  forwards: [{{command: [cat]}}]
"""

# A line of a container's log file.
CONTAINER_LOG = "2024-01-01T00:00:00.000000000Z stdout F {text}\n"

# Every write, once, without bodies.
AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Metadata  # Of those whose rights are compared with what they do.
  users: {users}
  omitStages: [RequestReceived, ResponseStarted]
- level: Metadata  # The agents of pull clusters, in the control plane and in their own cluster.
  userGroups: ["system:karmada:agents", "system:serviceaccounts:karmada-system"]
  omitStages: [RequestReceived, ResponseStarted]
- level: None
  verbs: [get, list, watch]
- level: Metadata
"""


def nodes(cluster, count):
    """Member nodes for kwok to keep alive."""
    room = {"cpu": "64", "memory": "256Gi", "pods": "500"}
    for name in (f"{cluster}-node-{i}" for i in range(count)):
        yield {"apiVersion": "v1", "kind": "Node",
               "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                            "labels": {"kubernetes.io/hostname": name, "type": "kwok"}},
               "status": {"allocatable": room, "capacity": room}}


def aggregated_api(port):
    """Registers Karmada's aggregated API server, which listens on a port of this machine."""
    return api_services("karmada-aggregated-apiserver", "karmada-system", port, ["v1alpha1.cluster.karmada.io"])


def api_services(server, namespace, port, names):
    """Has an API server pass API groups ("VERSION.GROUP") on to a server that listens on a port of this machine."""
    service = {"name": server, "namespace": namespace}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": service,
         "spec": {"type": "ExternalName", "externalName": "localhost"}},
        *({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name},
           "spec": {"group": name.split(".", 1)[1], "version": name.split(".", 1)[0], "insecureSkipTLSVerify": True,
                    "groupPriorityMinimum": 2000, "versionPriority": 10, "service": {**service, "port": port}}}
          for name in names),
    ]
