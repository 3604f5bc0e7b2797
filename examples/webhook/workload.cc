// The answers of an interpreter webhook for a kind of its own. Each function is pure: it reads the
// request and returns the response, keeps nothing, and may be called by any number of threads.
// Changes of an object are JSON patches (RFC 6902), which Karmada applies; an answer without a
// patch leaves the object as it is. The request comes from Karmada, but the object in it from a
// user: what it lacks has the default of its API, and what is malformed is an error that names the
// field.

#include "examples/webhook/workload.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "kube/meta/quantity.h"

namespace example {

namespace {

constexpr char kNotesAnnotation[] = "workload.example.io/notes";

const json::Value& ObjectOf(const json::Value& request) { return request["object"]; }
const json::Value& SpecOf(const json::Value& request) { return ObjectOf(request)["spec"]; }
const json::Value& PodOf(const json::Value& request) {
  return SpecOf(request).Get({"template", "spec"});
}

// The value that the API server would set by default.
constexpr int64_t kDefaultReplicas = 1;

absl::StatusOr<int64_t> ReplicasOf(const json::Value& request) {
  ASSIGN_OR_RETURN(const auto replicas, json::FindInt(ObjectOf(request), {"spec", "replicas"}));
  return replicas.value_or(kDefaultReplicas);
}

// Returns a response with one RFC 6902 operation, as base64.
json::Value PatchWith(json::Value operation) {
  const std::string text = json::Write(json::Value::Array({std::move(operation)}));
  return json::Value::Object({{"patchType", "JSONPatch"}, {"patch", absl::Base64Escape(text)}});
}

// The operation "add" also replaces an existing member.
json::Value Setting(absl::string_view path, json::Value value) {
  return PatchWith(
      json::Value::Object({{"op", "add"}, {"path", path}, {"value", std::move(value)}}));
}

// A response with neither patch nor patchType leaves the object as it is.
json::Value Unchanged() { return json::Value::Object(); }

// Returns the sum of the containers' requests.
absl::StatusOr<json::Value> RequestsOf(const json::Value& pod) {
  json::Value sum = json::Value::Object();
  for (const json::Value& container : pod["containers"].items()) {
    for (const json::Member& request : container.Get({"resources", "requests"}).members()) {
      // Quantities are added as such: "100m" and "0.1" are texts of the same amount.
      ASSIGN_OR_RETURN(kube::Quantity total,
                       kube::Quantity::Parse(sum[request.name()].AsString("0")));
      ASSIGN_OR_RETURN(const kube::Quantity more,
                       kube::Quantity::Parse(request.value.AsString("0")));
      total.Add(more);
      sum.Set(request.name(), total.ToString());
    }
  }
  return sum;
}

absl::StatusOr<json::Value> RequirementsOf(const json::Value& request) {
  const json::Value& pod = PodOf(request);
  ASSIGN_OR_RETURN(json::Value requests, RequestsOf(pod));
  json::Value requirements = json::Value::Object();
  if (!requests.empty()) requirements.Set("resourceRequest", std::move(requests));
  if (!pod["nodeSelector"].empty()) {
    requirements.Set({"nodeClaim", "nodeSelector"}, pod["nodeSelector"]);
  }
  return requirements;
}

json::Value Reference(absl::string_view kind, const json::Value& ns, const json::Value& name) {
  return json::Value::Object(
      {{"apiVersion", "v1"}, {"kind", kind}, {"namespace", ns}, {"name", name}});
}

// JSON pointers write "/" as "~1".
std::string Escaped(absl::string_view name) {
  return absl::StrReplaceAll(name, {{"~", "~0"}, {"/", "~1"}});
}

}  // namespace

absl::StatusOr<json::Value> Replicas(const json::Value& request) {
  ASSIGN_OR_RETURN(const int64_t replicas, ReplicasOf(request));
  ASSIGN_OR_RETURN(json::Value requirements, RequirementsOf(request));
  return json::Value::Object(
      {{"replicas", replicas}, {"replicaRequirements", std::move(requirements)}});
}

absl::StatusOr<json::Value> Components(const json::Value& request) {
  ASSIGN_OR_RETURN(json::Value component, Replicas(request));
  component.Set("name", "main");
  return json::Value::Object({{"components", json::Value::Array({std::move(component)})}});
}

absl::StatusOr<json::Value> ReviseReplica(const json::Value& request) {
  return Setting("/spec/replicas", request["replicas"].AsInt());
}

absl::StatusOr<json::Value> Retain(const json::Value& request) {
  const json::Value& paused = request["observedObject"].Get({"spec", "paused"});
  if (paused == SpecOf(request)["paused"]) return Unchanged();
  // A member that has removed the field keeps it removed: see below.
  if (!paused.is_null()) return Setting("/spec/paused", paused);
  return PatchWith(json::Value::Object({{"op", "remove"}, {"path", "/spec/paused"}}));
}

absl::StatusOr<json::Value> AggregateStatus(const json::Value& request) {
  int64_t ready = 0;
  for (const json::Value& item : request["aggregatedStatus"].items()) {
    // A cluster to which the object could not be written has no status.
    ready += item.Get({"status", "readyReplicas"}).AsInt();
  }
  const json::Value status = json::Value::Object({{"readyReplicas", ready}});
  if (ObjectOf(request)["status"] == status) return Unchanged();
  return Setting("/status", status);
}

absl::StatusOr<json::Value> Dependencies(const json::Value& request) {
  json::Value found = json::Value::Array();
  const json::Value& ns = ObjectOf(request).Get({"metadata", "namespace"});
  for (const json::Value& volume : PodOf(request)["volumes"].items()) {
    const json::Value& config = volume.Get({"configMap", "name"});
    const json::Value& secret = volume.Get({"secret", "secretName"});
    if (!config.is_null()) found.Append(Reference("ConfigMap", ns, config));
    if (!secret.is_null()) found.Append(Reference("Secret", ns, secret));
  }
  return json::Value::Object({{"dependencies", std::move(found)}});
}

absl::StatusOr<json::Value> Status(const json::Value& request) {
  const int64_t ready = ObjectOf(request).Get({"status", "readyReplicas"}).AsInt();
  return json::Value::Object({{"rawStatus", json::Value::Object({{"readyReplicas", ready}})}});
}

absl::StatusOr<json::Value> Health(const json::Value& request) {
  ASSIGN_OR_RETURN(const int64_t replicas, ReplicasOf(request));
  const int64_t ready = ObjectOf(request).Get({"status", "readyReplicas"}).AsInt();
  json::Value response = json::Value::Object({{"healthy", ready == replicas}});
  // For people; Karmada's own program does not know it.
  if (ready != replicas) {
    response.Set("healthMessage", absl::StrCat(ready, " of ", replicas, " replicas are ready"));
  }
  return response;
}

absl::StatusOr<json::Value> Prune(const json::Value& request) {
  const json::Value& annotations = ObjectOf(request).Get({"metadata", "annotations"});
  if (!annotations.Has(kNotesAnnotation)) return Unchanged();
  const std::string path = absl::StrCat("/metadata/annotations/", Escaped(kNotesAnnotation));
  return PatchWith(json::Value::Object({{"op", "remove"}, {"path", path}}));
}

}  // namespace example
