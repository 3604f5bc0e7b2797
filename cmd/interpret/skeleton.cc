// The texts from which `init` composes a customization and its cases: for each operation a script
// with its comment, and one case that passes with that script. The texts are pieces of YAML whose
// indentation counts; a test runs the cases against the scripts, so a change of one usually needs a
// change of the other. Placeholders are replaced in one pass, so a kind's name that contains one of
// them does no harm.

#include "cmd/interpret/skeleton.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cmd::interpret {
namespace {

using interpreter::Operation;

// In these texts KIND, APIVERSION and NAME (of object and files) are placeholders.
constexpr char kHead[] =
    R"(# What Karmada has to know about KIND (APIVERSION). Each script answers one question;
# delete those that you do not need: then a later layer answers, or nobody does.
#
#   karmada-interpret check NAME.yaml
#   karmada-interpret test NAME-test.yaml --customization NAME.yaml
#   kubectl apply -f NAME.yaml        # in the Karmada control plane
#
# Scripts are Lua 5.1 without io and most of os. Objects come as tables, and a field that is
# absent is nil: ask before going deeper (obj.status ~= nil and obj.status.x). Declare variables
# local. A script has one second and 64 MiB. require("kube") gives accuratePodRequirements,
# getPodDependencies, resourceAdd and getResourceQuantity.
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata:
  name: NAME
spec:
  target:
    apiVersion: APIVERSION
    kind: KIND
  customizations:
)";

constexpr char kCasesHead[] =
    R"(# Cases of NAME.yaml, one in each document: an operation, its input, the output it must have.
# Inputs: desiredObj (the template in the control plane), observedObj (the object in a member
# cluster), statusItems (what members report), inputReplicas.
)";

struct Part {
  Operation op;
  bool by_default;
  const char* script;  // The text below spec.customizations.
  const char* cases;   // One document, without the separating line.
};

constexpr Part kParts[] = {
    {Operation::kInterpretReplica, true,
     R"(    # InterpretReplica: how many replicas the template asks for, and what each one needs.
    # The scheduler divides the one among clusters and looks for room for the other.
    replicaResource:
      luaScript: |
        local kube = require("kube")
        function GetReplicas(desiredObj)
          local replicas = desiredObj.spec.replicas or 1
          local requires = nil
          if desiredObj.spec.template ~= nil then
            requires = kube.accuratePodRequirements(desiredObj.spec.template)
          end
          return replicas, requires
        end
)",
     R"(name: replicas and requirements come from the template
operation: InterpretReplica
desiredObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec:
    replicas: 2
    template:
      spec:
        containers:
        - name: main
          resources: {requests: {cpu: 100m, memory: 64Mi}}
output:
  replica: 2
  requires:
    resourceRequest: {cpu: 100m, memory: 64Mi}
)"},
    {Operation::kInterpretComponent, false,
     R"(    # InterpretComponent: for kinds that run pods of several sorts, each with its replicas.
    # Asked instead of InterpretReplica when the feature gate MultiplePodTemplatesScheduling is on.
    componentResource:
      luaScript: |
        local kube = require("kube")
        function GetComponents(desiredObj)
          local requires = nil
          if desiredObj.spec.template ~= nil then
            requires = kube.accuratePodRequirements(desiredObj.spec.template)
          end
          local replicas = desiredObj.spec.replicas or 1
          return { { name = "main", replicas = replicas, replicaRequirements = requires } }
        end
)",
     R"(name: there is one component
operation: InterpretComponent
desiredObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec:
    replicas: 2
    template:
      spec:
        containers:
        - name: main
          resources: {requests: {cpu: 100m}}
output:
  components:
  - name: main
    replicas: 2
    replicaRequirements:
      resourceRequest: {cpu: 100m}
)"},
    {Operation::kReviseReplica, true,
     R"(    # ReviseReplica: the template with the replicas that one cluster shall run.
    replicaRevision:
      luaScript: |
        function ReviseReplica(desiredObj, desiredReplica)
          desiredObj.spec.replicas = desiredReplica
          return desiredObj
        end
)",
     R"(name: a cluster gets its share of replicas
operation: ReviseReplica
desiredObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec: {replicas: 5}
inputReplicas: 2
output:
  revised:
    apiVersion: APIVERSION
    kind: KIND
    metadata: {name: sample, namespace: default}
    spec: {replicas: 2}
)"},
    {Operation::kRetain, true,
     R"(    # Retain: what is applied to a member, with what the member may keep. Without it a field
    # that a controller or an administrator sets there is put back again and again.
    retention:
      luaScript: |
        function Retain(desiredObj, observedObj)
          if observedObj.spec ~= nil and observedObj.spec.paused ~= nil then
            desiredObj.spec.paused = observedObj.spec.paused
          end
          return desiredObj
        end
)",
     R"(name: an object that was paused in the member stays paused
operation: Retain
desiredObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec: {replicas: 2}
observedObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec: {replicas: 2, paused: true}
output:
  retained:
    apiVersion: APIVERSION
    kind: KIND
    metadata: {name: sample, namespace: default}
    spec: {replicas: 2, paused: true}
)"},
    {Operation::kInterpretStatus, true,
     R"(    # InterpretStatus: the part of a member object's status that is collected; without it
    # all of it is.
    statusReflection:
      luaScript: |
        function ReflectStatus(observedObj)
          local status = {}
          if observedObj.status == nil then
            return status
          end
          status.replicas = observedObj.status.replicas
          status.readyReplicas = observedObj.status.readyReplicas
          return status
        end
)",
     R"(name: only the counters are collected
operation: InterpretStatus
observedObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  status: {replicas: 2, readyReplicas: 1, message: nobody needs this}
output:
  status: {replicas: 2, readyReplicas: 1}
)"},
    {Operation::kAggregateStatus, true,
     R"(    # AggregateStatus: the template with the status of all members together. statusItems is
    # a list of {clusterName, status, applied, health}, nil without members; status may be missing.
    statusAggregation:
      luaScript: |
        function AggregateStatus(desiredObj, statusItems)
          local replicas, ready = 0, 0
          for _, item in ipairs(statusItems or {}) do
            local status = item.status or {}
            replicas = replicas + (status.replicas or 0)
            ready = ready + (status.readyReplicas or 0)
          end
          desiredObj.status = desiredObj.status or {}
          desiredObj.status.replicas = replicas
          desiredObj.status.readyReplicas = ready
          return desiredObj
        end
)",
     R"(name: the counters of two members are added up
operation: AggregateStatus
desiredObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec: {replicas: 3}
statusItems:
- clusterName: member1
  applied: true
  health: Healthy
  status: {replicas: 2, readyReplicas: 2}
- clusterName: member2
  applied: true
  health: Unhealthy
  status: {replicas: 1}
output:
  aggregatedStatus:
    apiVersion: APIVERSION
    kind: KIND
    metadata: {name: sample, namespace: default}
    spec: {replicas: 3}
    status: {replicas: 3, readyReplicas: 2}
)"},
    {Operation::kInterpretHealth, true,
     R"(    # InterpretHealth: whether an object in a member works: true or false on every path.
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          if observedObj.status == nil or observedObj.spec == nil then
            return false
          end
          return (observedObj.status.readyReplicas or 0) >= (observedObj.spec.replicas or 1)
        end
)",
     R"(name: an object with too few ready replicas is not healthy
operation: InterpretHealth
observedObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec: {replicas: 2}
  status: {replicas: 2, readyReplicas: 1}
output:
  healthy: false
)"},
    {Operation::kInterpretDependency, true,
     R"(    # InterpretDependency: what else has to be where the object is, for policies with
    # propagateDeps.
    dependencyInterpretation:
      luaScript: |
        local kube = require("kube")
        function GetDependencies(desiredObj)
          if desiredObj.spec.template == nil then
            return {}
          end
          local namespace = desiredObj.metadata.namespace
          return kube.getPodDependencies(desiredObj.spec.template, namespace) or {}
        end
)",
     R"(name: the Secret of a volume goes along
operation: InterpretDependency
desiredObj:
  apiVersion: APIVERSION
  kind: KIND
  metadata: {name: sample, namespace: default}
  spec:
    template:
      spec:
        containers: [{name: main}]
        volumes:
        - name: certificate
          secret: {secretName: sample-tls}
output:
  dependencies:
  - apiVersion: v1
    kind: Secret
    namespace: default
    name: sample-tls
)"},
};

}  // namespace

Skeleton MakeSkeleton(const kube::Gvk& gvk, absl::Span<const Operation> operations) {
  std::string customization = kHead, cases = kCasesHead;
  for (const Part& part : kParts) {
    const bool named = std::find(operations.begin(), operations.end(), part.op) != operations.end();
    if (operations.empty() ? !part.by_default : !named) continue;
    customization += part.script;
    absl::StrAppend(&cases, "---\n", part.cases);
  }
  const auto filled = [&](const std::string& text) {
    return absl::StrReplaceAll(text, {{"APIVERSION", gvk.ApiVersion()},
                                      {"KIND", gvk.kind},
                                      {"NAME", absl::AsciiStrToLower(gvk.kind)}});
  };
  return {filled(customization), filled(cases)};
}

}  // namespace cmd::interpret
