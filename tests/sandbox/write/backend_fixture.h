// A server's backend, and functions to send it requests.
#ifndef TESTS_SANDBOX_WRITE_BACKEND_FIXTURE_H_
#define TESTS_SANDBOX_WRITE_BACKEND_FIXTURE_H_

#include <string>

#include "base/json.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"
#include "sandbox/write/server_backend.h"

namespace sandbox {

inline kube::Object FromYaml(absl::string_view text) { return kube::Object(*yaml::Parse(text)); }

inline const kube::Gvr kDeployments{"apps", "v1", "deployments"};
inline const kube::Gvr kConfigMaps{"", "v1", "configmaps"};
inline const kube::Gvr kNamespaces{"", "v1", "namespaces"};
inline const kube::Gvr kDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
inline const kube::Gvr kWidgets{"example.com", "v1", "widgets"};

inline kube::Object ConfigMap(const std::string& name, const std::string& value = "1") {
  kube::Object o = kube::Object::Make({"", "v1", "ConfigMap"}, {"default", name});
  o.Set({"data", "key"}, value);
  return o;
}

inline kube::Object Deployment(const std::string& name, int replicas = 1) {
  kube::Object o = FromYaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.27"}]}
)");
  o.Set({"metadata", "name"}, name);
  o.Set({"spec", "replicas"}, replicas);
  return o;
}

// A definition with status and scale, defaults, enums, limits, and a second version.
inline kube::Object WidgetDefinition() {
  return FromYaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [toys]}
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Mode, type: string, jsonPath: .spec.mode}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, maximum: 10}
              mode: {type: string, enum: [A, B], default: A}
              replicas: {type: integer, default: 1}
              name: {type: string, pattern: '^[a-z]+$', maxLength: 5}
              port: {x-kubernetes-int-or-string: true}
              note: {type: string, nullable: true}
              tags: {type: array, minItems: 1, items: {type: string}}
              limits: {type: object, additionalProperties: {type: integer}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              parts:
                type: array
                items:
                  type: object
                  properties:
                    name: {type: string}
                    weight: {type: integer, default: 5}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
)");
}

inline kube::Object Widget(const std::string& name) {
  kube::Object o = kube::Object::Make({"example.com", "v1", "Widget"}, {"default", name});
  o.Set({"spec", "size"}, 3);
  return o;
}

inline std::string Message(const absl::Status& status) { return ErrorOf(status).message; }

}  // namespace sandbox

#endif  // TESTS_SANDBOX_WRITE_BACKEND_FIXTURE_H_
