// Two sets of keys. A change of a pod queues the namespace of the pod, which queues every Service
// in it: which Services select a pod, before and after the change, is found out by looking at all
// of them. A Service is reconciled from the pods that exist then: one slice, written only if
// endpoints or ports differ. The slice's name follows from the uid of the Service, so that a
// restart of the simulator finds its own slice; there is no other state. A Service that loses its
// selector keeps the slice that it had, as in Kubernetes; with the Service the slice is
// garbage-collected.

#include "sandbox/sim/endpoint_slices.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

const kube::Gvr kServices{"", "v1", "services"};
const kube::Gvr kSlices{"discovery.k8s.io", "v1", "endpointslices"};
constexpr size_t kLengthOfSuffix = 5;

bool HasPodsBehind(const kube::Object& service) {
  return !service.spec()["selector"].empty() && service.spec()["type"].AsString() != "ExternalName";
}

// Returns a name that the Service keeps as long as it lives, of the form that others have.
std::string SliceName(const kube::Object& service) {
  const std::string hash = TemplateHash(json::Value(service.uid()));
  return absl::StrCat(service.name(), "-", hash.substr(0, kLengthOfSuffix));
}

json::Value EndpointOf(const kube::Object& pod) {
  const bool ready = IsReadyPod(pod);
  json::Value endpoint = json::Value::Object();
  endpoint.Set("addresses", json::Value::Array({pod.status()["podIP"]}));
  endpoint.Set("conditions", json::Value::Object({{"ready", ready && !pod.IsDeleting()},
                                                  {"serving", ready},
                                                  {"terminating", pod.IsDeleting()}}));
  endpoint.Set("nodeName", pod.spec()["nodeName"]);
  endpoint.Set(
      "targetRef",
      json::Value::Object(
          {{"kind", "Pod"}, {"name", pod.name()}, {"namespace", pod.ns()}, {"uid", pod.uid()}}));
  return endpoint;
}

// Returns the number of a target port, which may be the name of a port of a container; 0 when no
// container has it.
int64_t PortNumber(const json::Value& port, const kube::Object* pod) {
  const json::Value& target = port["targetPort"];
  if (target.is_null()) return port["port"].AsInt();
  if (target.is_int()) return target.AsInt();
  if (pod == nullptr) return 0;
  for (const json::Value& container : pod->spec()["containers"].items()) {
    for (const json::Value& candidate : container["ports"].items()) {
      if (candidate["name"] == target) return candidate["containerPort"].AsInt();
    }
  }
  return 0;
}

// All pods of a Service are taken to have the same ports under the same names.
json::Value PortsOf(const kube::Object& service, const kube::Object* pod) {
  json::Value ports = json::Value::Array();
  for (const json::Value& port : service.spec()["ports"].items()) {
    const int64_t number = PortNumber(port, pod);
    if (number == 0) continue;
    json::Value out = json::Value::Object({{"name", port["name"].AsString()},
                                           {"port", number},
                                           {"protocol", port["protocol"].AsString()}});
    if (!port["appProtocol"].is_null()) out.Set("appProtocol", port["appProtocol"]);
    ports.Append(std::move(out));
  }
  return ports;
}

}  // namespace

EndpointSlices::EndpointSlices(Backend& backend, EventLoop& loop)
    : backend_(backend),
      pods_("endpointslice-pods", backend, loop,
            [this](const kube::ObjectKey& ns) { return ReconcilePodsOf(ns); }),
      services_("endpointslice", backend, loop,
                [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  services_.WatchKeys(kServices);
  services_.WatchOwned(kSlices, "Service");
  pods_.Watch(kinds::Pods().gvr(), [this](const Event& event) {
    pods_.Enqueue({"", std::string(event.object->ns())});
  });
}

absl::Status EndpointSlices::ReconcilePodsOf(const kube::ObjectKey& ns) {
  ASSIGN_OR_RETURN(const auto services, backend_.List(kServices, ns.name, kube::LabelSelector()));
  for (const kube::ObjectPtr& service : services) services_.Enqueue(service->key());
  return absl::OkStatus();
}

absl::Status EndpointSlices::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr service, FindObject(backend_, kServices, key));
  // The garbage collector deletes the slice of a Service that is gone.
  if (service == nullptr || service->IsDeleting() || !HasPodsBehind(*service)) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const auto pods,
                   backend_.List(kinds::Pods().gvr(), key.ns, kube::LabelSelector()));
  json::Value endpoints = json::Value::Array();
  const kube::Object* one = nullptr;
  for (const kube::ObjectPtr& pod : pods) {
    if (!HasLabels(pod->labels(), service->spec()["selector"])) continue;
    if (pod->status()["podIP"].AsString().empty() || !IsActivePod(*pod)) continue;
    endpoints.Append(EndpointOf(*pod));
    one = pod.get();
  }
  kube::Object slice = kube::Object::Make({"discovery.k8s.io", "v1", "EndpointSlice"},
                                          {key.ns, SliceName(*service)});
  slice.SetLabel("kubernetes.io/service-name", key.name);
  slice.SetLabel("endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io");
  slice.Set({"metadata", "ownerReferences"}, json::Value::Array({ControllerRefTo(*service)}));
  slice.Set({"addressType"}, "IPv4");
  slice.Set({"endpoints"}, endpoints);
  slice.Set({"ports"}, PortsOf(*service, one));
  ASSIGN_OR_RETURN(const kube::ObjectPtr present, FindObject(backend_, kSlices, slice.key()));
  if (present == nullptr) return EnsureObject(backend_, kSlices, std::move(slice));
  if (present->root()["endpoints"] == slice.root()["endpoints"] &&
      present->root()["ports"] == slice.root()["ports"]) {
    return absl::OkStatus();
  }
  json::Value patch = json::Value::Object(
      {{"endpoints", slice.root()["endpoints"]}, {"ports", slice.root()["ports"]}});
  return PatchAsRead(backend_, kSlices, *present, std::move(patch));
}

}  // namespace sandbox
