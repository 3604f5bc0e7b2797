// The spec of a Pod begins with that of the member's Pod, because nobody may take anything out of
// one that runs. Others write there
//   when it is created   defaults (API server); serviceAccountName, imagePullSecrets, the volume
//   and
//                        mounts of the token (ServiceAccount admission); resources (LimitRanger);
//                        priority, preemptionPolicy, tolerations (other plugins); sidecars, their
//                        volumes, changed probes and environments, scheduling gates (webhooks)
//   later                nodeName (scheduler); nodeSelector, tolerations, and fewer schedulingGates
//                        (Kueue and whoever else has set a gate); ephemeralContainers (kubectl
//                        debug)
//
// What the template determines is laid over it:
// 1. the fields that Kubernetes lets change (ValidatePodUpdate in pkg/apis/core/validation):
//    images, activeDeadlineSeconds, further tolerations, fewer scheduling gates, and
//    terminationGracePeriodSeconds from a negative number to 1;
// 2. when the template is not the one that the member's Pod was given (the annotation
//    resourcetemplate.karmada.io/generation differs, or has no meaning), every field that it names.
//    If one cannot change, the member refuses the update, and the user sees it in the condition
//    Applied. What a webhook has changed of such a field is refused then, too: nothing shows who
//    changed it.
// What a template names no more stays, because it looks like what others have put in.
//
// A gate that the template names is never put back. One that it does not name is removed with a
// changed template, by which a user opens a gate of the template; except Kueue's, which its webhook
// has set.

#include "interpreter/native/pod_retention.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "api/keys.h"
#include "base/status.h"
#include "interpreter/native/typed_fields.h"
#include "kube/schema/three_way_merge.h"

namespace interpreter::native {

namespace {

constexpr const char* kContainerLists[] = {"containers", "initContainers"};
constexpr char kGates[] = "schedulingGates";
constexpr char kKueueGates[] = "kueue.x-k8s.io/";

using ByText = absl::flat_hash_map<std::string, const json::Value*>;

// Checks the types of the fields that retention reads.
absl::Status CheckRetainable(const kube::Object& pod) {
  RETURN_IF_ERROR(json::FindObject(pod.root(), {"spec"}).status());
  Fields spec(pod.spec(), "spec");
  spec.String("nodeName");
  spec.String("serviceAccountName");
  spec.Each("volumes", [](Fields&) {});
  spec.Each("tolerations", [](Fields&) {});
  spec.Each(kGates, [](Fields& gate) { gate.String("name"); });
  for (const char* containers : kContainerLists) {
    spec.Each(containers, [](Fields& container) {
      container.String("name");
      container.String("image");
      container.Each("volumeMounts", [](Fields&) {});
    });
  }
  return spec.error();
}

// Returns whether the member's Pod was given this very template.
bool HasTemplate(const kube::Object& observed, const kube::Object& desired) {
  const absl::string_view generation = desired.Annotation(api::kTemplateGenerationAnnotation);
  // Control planes before Kubernetes 1.33 count no generations of Pods.
  if (generation.empty() || generation == "0") return false;
  return observed.Annotation(api::kTemplateGenerationAnnotation) == generation;
}

// Returns the items by their names; the first of several with one name.
ByText ByName(const json::Value& list) {
  ByText items;
  for (const json::Value& item : list.items()) items.emplace(item["name"].ToString(), &item);
  return items;
}

// Returns the text by which two tolerations are the same: Kubernetes lets the time change.
std::string KeyOf(json::Value toleration) {
  toleration.Erase("tolerationSeconds");
  return json::Write(toleration);
}

void LayImages(const json::Value& ours, json::Value& containers) {
  const ByText wanted = ByName(ours);
  for (size_t i = 0; i < containers.size(); ++i) {
    const auto found = wanted.find(containers.At(i)["name"].ToString());
    if (found == wanted.end()) continue;
    const json::Value& image = (*found->second)["image"];
    if (!image.AsString().empty()) containers.MutableAt(i).Set("image", image);
  }
}

// Returns the member's tolerations, and after them those that only the template has.
json::Value Tolerations(const json::Value& ours, const json::Value& theirs) {
  ByText wanted;
  for (const json::Value& toleration : ours.items()) wanted.emplace(KeyOf(toleration), &toleration);
  json::Value all = json::Value::Array();
  for (const json::Value& toleration : theirs.items()) {
    const auto found = wanted.find(KeyOf(toleration));
    all.Append(found == wanted.end() ? toleration : *found->second);
    if (found != wanted.end()) wanted.erase(found);
  }
  for (const json::Value& toleration : ours.items()) {
    if (wanted.erase(KeyOf(toleration)) > 0) all.Append(toleration);
  }
  return all;
}

// Returns those of the member's gates that stay.
json::Value Gates(const json::Value& ours, const json::Value& theirs, bool is_same) {
  const ByText named = ByName(ours);
  json::Value gates = json::Value::Array();
  for (const json::Value& gate : theirs.items()) {
    const std::string name = gate["name"].ToString();
    const bool stays = is_same || named.contains(name) || absl::StartsWith(name, kKueueGates);
    if (stays) gates.Append(gate);
  }
  return gates;
}

// Lays the fields that Kubernetes lets change over a spec that has the member's parts.
void LayMutableFields(const json::Value& ours, const json::Value& theirs, json::Value& spec) {
  for (const char* list : kContainerLists) {
    if (spec[list].is_array()) LayImages(ours[list], spec.Mutable(list));
  }
  const json::Value& deadline = ours["activeDeadlineSeconds"];
  if (!deadline.is_null()) spec.Set("activeDeadlineSeconds", deadline);
  if (!ours["tolerations"].empty()) {
    spec.Set("tolerations", Tolerations(ours["tolerations"], theirs["tolerations"]));
  }
  const json::Value& grace = ours["terminationGracePeriodSeconds"];
  if (grace.AsInt() == 1 && theirs["terminationGracePeriodSeconds"].AsInt() < 0) {
    spec.Set("terminationGracePeriodSeconds", grace);
  }
}

// Returns the member's spec with every field that the template names.
json::Value Merged(const kube::Object& desired, const kube::Object& observed) {
  json::Value merged = kube::ThreeWayMerge(json::Value(), desired.root(), observed.root());
  return merged["spec"];
}

// Copies a member, or removes it from `to` when it is empty in `from`.
void CopyOrErase(const json::Value& from, absl::string_view name, json::Value& to) {
  const json::Value& held = from[name];
  if (!held.empty() || !held.AsString().empty()) {
    to.Set(name, held);
  } else {
    to.Erase(name);
  }
}

void RetainMounts(const json::Value& observed, json::Value& containers) {
  const ByText theirs = ByName(observed);
  for (size_t i = 0; i < containers.size(); ++i) {
    const auto found = theirs.find(containers.At(i)["name"].ToString());
    if (found == theirs.end()) continue;
    CopyOrErase(*found->second, "volumeMounts", containers.MutableAt(i));
  }
}

}  // namespace

absl::StatusOr<kube::Object> RetainPod(const kube::Object& desired, const kube::Object& observed) {
  RETURN_IF_ERROR(CheckRetainable(desired));
  RETURN_IF_ERROR(CheckRetainable(observed));
  const bool is_same = HasTemplate(observed, desired);
  json::Value spec = is_same ? observed.spec() : Merged(desired, observed);
  LayMutableFields(desired.spec(), observed.spec(), spec);
  json::Value gates = Gates(desired.spec()[kGates], observed.spec()[kGates], is_same);
  if (gates.empty()) {
    spec.Erase(kGates);
  } else {
    spec.Set(kGates, std::move(gates));
  }
  kube::Object retained = desired;
  retained.Set({"spec"}, std::move(spec));
  return retained;
}

absl::StatusOr<kube::Object> RetainPodAsUpstream(const kube::Object& desired,
                                                 const kube::Object& observed) {
  RETURN_IF_ERROR(CheckRetainable(desired));
  RETURN_IF_ERROR(CheckRetainable(observed));
  kube::Object retained = desired;
  json::Value& spec = retained.mutable_root().Mutable("spec");
  for (const char* field : {"nodeName", "serviceAccountName", "volumes"}) {
    CopyOrErase(observed.spec(), field, spec);
  }
  for (const char* containers : kContainerLists) {
    if (spec[containers].is_array()) {
      RetainMounts(observed.spec()[containers], spec.Mutable(containers));
    }
  }
  return retained;
}

}  // namespace interpreter::native
