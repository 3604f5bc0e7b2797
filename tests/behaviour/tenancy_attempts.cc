#include "tests/behaviour/tenancy_attempts.h"

namespace tests {

const std::vector<Attempt>& Attempts() {
  static const auto& attempts = *new std::vector<Attempt>{
      {"ResourceBinding", "spec.resource", "a Secret of another namespace",
       "ResourceBinding pw-secret BindingRefused", R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: pw-secret, namespace: $NS, finalizers: [karmada.io/binding-controller]}
spec:
  resource: {apiVersion: v1, kind: Secret, namespace: $VICTIM, name: pw}
  clusters: [{name: member2}]
)"},
      {"ResourceBinding", "spec.resource", "a workload of another namespace, and its status",
       "ResourceBinding web-deployment BindingRefused", R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-deployment, namespace: $NS, finalizers: [karmada.io/binding-controller]}
spec:
  propagateDeps: true
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: $VICTIM, name: web}
  clusters: [{name: member2}]
)"},
      {"ResourceBinding", "spec.resource", "a Namespace", "ResourceBinding ns BindingRefused", R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: ns, namespace: $NS, finalizers: [karmada.io/binding-controller]}
spec:
  resource: {apiVersion: v1, kind: Namespace, name: $VICTIM}
  clusters: [{name: member1}]
)"},
      {"ResourceBinding", "spec.resource", "a Namespace, said to be in one's own namespace",
       "ResourceBinding said BindingRefused", R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: said, namespace: $NS, finalizers: [karmada.io/binding-controller]}
spec:
  resource: {apiVersion: v1, kind: Namespace, namespace: $NS, name: $VICTIM}
  clusters: [{name: member1}]
)"},
      {"ResourceBinding", "spec.resource", "the Secret with a member's token",
       "ResourceBinding token BindingRefused", R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: token, namespace: $NS, finalizers: [karmada.io/binding-controller]}
spec:
  resource: {apiVersion: v1, kind: Secret, namespace: karmada-cluster, name: member1}
  clusters: [{name: member2}]
)"},
      {"ResourceBinding", "the whole", "a copy of another namespace's binding, with its labels",
       "ResourceBinding copy BindingRefused", R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: copy
  namespace: $NS
  finalizers: [karmada.io/binding-controller]
  labels: {resourcebinding.karmada.io/permanent-id: $ID}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: $VICTIM, name: web}
  clusters: [{name: member1}]
)"},
      {"ResourceBinding", "metadata.labels", "the permanent id of another namespace's binding", "",
       R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: labelled
  namespace: $NS
  finalizers: [karmada.io/binding-controller]
  labels: {resourcebinding.karmada.io/permanent-id: $ID}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, namespace: $NS, name: none}
  clusters: [{name: member2}]
)"},
      {"ResourceBinding", "spec.requiredBy", "another namespace's binding as the one in need", "",
       R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: needed, namespace: $NS}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: needed-configmap, namespace: $NS, finalizers: [karmada.io/binding-controller]}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, namespace: $NS, name: needed}
  requiredBy: [{namespace: $VICTIM, name: web-deployment, clusters: [{name: member1}]}]
)"},
      {"Work", "metadata", "a Work in one's own namespace that names another namespace's binding",
       "", R"(
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata:
  name: stray
  namespace: $NS
  labels: {resourcebinding.karmada.io/permanent-id: $ID}
  annotations:
    resourcebinding.karmada.io/namespace: $VICTIM
    resourcebinding.karmada.io/name: web-deployment
spec:
  workload:
    manifests:
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: stray, namespace: $VICTIM}}
)"},
      {"PropagationPolicy", "spec.resourceSelectors", "a Secret of another namespace", "admission",
       R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: foreign, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: $VICTIM, name: pw}]
  placement: {clusterAffinity: {clusterNames: [member2]}}
)"},
      {"PropagationPolicy", "spec.resourceSelectors", "a Namespace",
       "PropagationPolicy wide ResourceNotPropagated", R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: wide, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Namespace, name: $VICTIM}]
  placement: {clusterAffinity: {clusterNames: [member2]}}
)"},
      {"any template", "metadata.labels, metadata.annotations",
       "the claim of another namespace's policy", "", R"(
apiVersion: v1
kind: ConfigMap
metadata:
  name: claimed
  namespace: $NS
  labels: {propagationpolicy.karmada.io/permanent-id: $ID}
  annotations:
    propagationpolicy.karmada.io/namespace: $VICTIM
    propagationpolicy.karmada.io/name: web
)"},
      {"any template", "what a rule for dependencies reads from it",
       "an object of another namespace, and one that has no namespace",
       "ResourceBinding one-robot SyncScheduleResultToDependenciesFailed", R"(
apiVersion: $VICTIM.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {namespace: $VICTIM}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robot, namespace: $NS}
spec:
  propagateDeps: true
  conflictResolution: Overwrite
  resourceSelectors: [{apiVersion: $VICTIM.example.io/v1, kind: Robot}]
  placement: {clusterAffinity: {clusterNames: [member2]}}
)"},
      {"OverridePolicy", "spec.overrideRules", "another namespace for the object",
       "ResourceBinding moved-configmap SyncWorkFailed", R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: moves, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: moved}]
  overrideRules:
    - overriders:
        plaintext: [{path: /metadata/namespace, operator: replace, value: $VICTIM}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: moved, namespace: $NS}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: moved, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: moved}]
  placement: {clusterAffinity: {clusterNames: [member2]}}
)"},
      {"HorizontalPodAutoscaler", "spec.scaleTargetRef", "a Namespace", "", R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: marks
  namespace: $NS
  labels: {propagationpolicy.karmada.io/permanent-id: mine}
spec:
  scaleTargetRef: {apiVersion: v1, kind: Namespace, name: $VICTIM}
  maxReplicas: 2
)"},
      {"FederatedHPA", "spec.scaleTargetRef", "a Namespace",
       "FederatedHPA scales FailedGetScaleTargetRef",
       R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: scales, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: v1, kind: Namespace, name: $VICTIM}
  minReplicas: 1
  maxReplicas: 2
  metrics:
    - type: Resource
      resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}
)"},
      {"CronFederatedHPA", "spec.scaleTargetRef", "a Namespace", "", R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: wide, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: v1, kind: Namespace, name: $VICTIM}
  rules: [{name: down, schedule: "* * * * *", targetReplicas: 0}]
)"},
      {"CronFederatedHPA", "spec.scaleTargetRef", "a name that leads into another namespace",
       "CronFederatedHPA leads ScaleFailed", R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: leads, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: ../../$VICTIM/deployments/web}
  rules: [{name: down, schedule: "* * * * *", targetReplicas: 0}]
)"},
  };
  return attempts;
}

}  // namespace tests
