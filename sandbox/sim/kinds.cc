#include "sandbox/sim/kinds.h"

namespace sandbox::kinds {

const kube::Resource& Pods() {
  static const auto& resource = *new kube::Resource{{"", "v1", "Pod"}, "pods", true};
  return resource;
}

const kube::Resource& Nodes() {
  static const auto& resource = *new kube::Resource{{"", "v1", "Node"}, "nodes", false};
  return resource;
}

const kube::Resource& Namespaces() {
  static const auto& resource = *new kube::Resource{{"", "v1", "Namespace"}, "namespaces", false};
  return resource;
}

const kube::Resource& ConfigMaps() {
  static const auto& resource = *new kube::Resource{{"", "v1", "ConfigMap"}, "configmaps", true};
  return resource;
}

const kube::Resource& Secrets() {
  static const auto& resource = *new kube::Resource{{"", "v1", "Secret"}, "secrets", true};
  return resource;
}

const kube::Resource& ServiceAccounts() {
  static const auto& resource =
      *new kube::Resource{{"", "v1", "ServiceAccount"}, "serviceaccounts", true};
  return resource;
}

const kube::Resource& Deployments() {
  static const auto& resource =
      *new kube::Resource{{"apps", "v1", "Deployment"}, "deployments", true};
  return resource;
}

const kube::Resource& ReplicaSets() {
  static const auto& resource =
      *new kube::Resource{{"apps", "v1", "ReplicaSet"}, "replicasets", true};
  return resource;
}

const kube::Resource& StatefulSets() {
  static const auto& resource =
      *new kube::Resource{{"apps", "v1", "StatefulSet"}, "statefulsets", true};
  return resource;
}

const kube::Resource& DaemonSets() {
  static const auto& resource =
      *new kube::Resource{{"apps", "v1", "DaemonSet"}, "daemonsets", true};
  return resource;
}

const kube::Resource& Jobs() {
  static const auto& resource = *new kube::Resource{{"batch", "v1", "Job"}, "jobs", true};
  return resource;
}

const kube::Resource& Events() {
  static const auto& resource = *new kube::Resource{{"", "v1", "Event"}, "events", true};
  return resource;
}

const kube::Resource& Definitions() {
  static const auto& resource =
      *new kube::Resource{{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                          "customresourcedefinitions",
                          false};
  return resource;
}

}  // namespace sandbox::kinds
