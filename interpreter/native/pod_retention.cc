// Others write into the spec of a Pod in a member, nearly all of them while it is created:
//
// - the scheduler: nodeName; the admission for service accounts: serviceAccountName, a volume with
// its
//   token and the mounts of it, imagePullSecrets; LimitRanger: resources of containers; the
//   admissions for priorities, runtime classes and tolerations; the defaults of the API server;
// - Kueue: a scheduling gate, which it takes away when it admits the Pod, and nodeSelector then;
// - webhooks (service meshes, agents): containers, init containers, environment variables, volumes;
// - `kubectl debug`: ephemeral containers.
//
// A Pod that exists can lose nothing of it, nor anything else: Kubernetes refuses every change but
// that of an image, a shorter activeDeadlineSeconds, a further toleration, and a gate that goes
// (ValidatePodUpdate). So what the template does not name stays as it is in the member, member by
// member and, in lists of named items, item by item. What it does name is applied; where Kubernetes
// does not allow that, its answer is reported. What the template loses stays in the Pod.
#include "interpreter/native/pod_retention.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "base/status.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// Gates with this prefix are put into Pods by a webhook of Kueue; other gates are the template's.
constexpr absl::string_view kKueueGates = "kueue.x-k8s.io/";

constexpr absl::string_view kContainers[] = {"containers", "initContainers"};
// Of these the member's value counts, even if it has none.
constexpr absl::string_view kOfTheMember[] = {"nodeName", "serviceAccountName", "volumes"};
constexpr absl::string_view kTolerations = "tolerations";
constexpr absl::string_view kGates = "schedulingGates";

// Checks the types of the members whose place the retention has to find.
absl::Status CheckRetainable(const kube::Object& pod) {
  Fields spec(pod.spec(), "spec");
  spec.String("nodeName");
  spec.String("serviceAccountName");
  spec.Each("volumes", [](Fields&) {});
  for (const absl::string_view containers : kContainers) {
    spec.Each(containers, [](Fields& container) {
      container.String("name");
      container.Each("volumeMounts", [](Fields&) {});
    });
  }
  spec.Each(kTolerations, [](Fields&) {});
  spec.Each(kGates, [](Fields& gate) { gate.String("name"); });
  return spec.error();
}

// Copies a member, or removes it from `to` when it is empty in `from`.
void CopyOrErase(const json::Value& from, absl::string_view name, json::Value& to) {
  const json::Value& held = from[name];
  if (!held.empty() || !held.AsString().empty()) {
    to.Set(name, held);
  } else if (to.Has(name)) {
    to.Erase(name);
  }
}

bool IsNamedList(const json::Value& list) {
  return !list.empty() && list.is_array() &&
         std::all_of(list.items().begin(), list.items().end(),
                     [](const json::Value& item) { return !item["name"].AsString().empty(); });
}

json::Value Filled(const json::Value& desired, const json::Value& observed);

// Returns the observed items, each filled into the desired one of its name, then the other desired
// ones.
json::Value FilledByName(const json::Value& desired, const json::Value& observed) {
  absl::flat_hash_map<absl::string_view, const json::Value*> wanted;
  for (const json::Value& item : desired.items()) wanted.emplace(item["name"].AsString(), &item);
  std::vector<json::Value> out;
  absl::flat_hash_set<const json::Value*> placed;
  for (const json::Value& item : observed.items()) {
    const auto found = wanted.find(item["name"].AsString());
    if (found == wanted.end()) {
      out.push_back(item);
    } else if (placed.insert(found->second).second) {
      out.push_back(Filled(*found->second, item));
    }
  }
  for (const json::Value& item : desired.items()) {
    if (placed.count(&item) == 0) out.push_back(item);
  }
  return json::Value::OfItems(std::move(out));
}

// Returns `desired` with the members that only `observed` has.
json::Value Filled(const json::Value& desired, const json::Value& observed) {
  if (desired.is_null()) return observed;
  if (IsNamedList(desired) && IsNamedList(observed)) return FilledByName(desired, observed);
  if (!desired.is_object() || !observed.is_object()) return desired;
  std::vector<json::Member> members;
  for (const json::Member& member : desired.members()) {
    members.emplace_back(json::Value(member.name()), Filled(member.value, observed[member.name()]));
  }
  for (const json::Member& member : observed.members()) {
    if (!desired.Has(member.name())) members.push_back(member);
  }
  return json::Value::OfMembers(std::move(members));
}

void RetainMounts(const json::Value& observed, json::Value& containers) {
  absl::flat_hash_map<absl::string_view, const json::Value*> by_name;
  for (const json::Value& container : observed.items()) {
    by_name.emplace(container["name"].AsString(), &container);
  }
  for (size_t i = 0; i < containers.size(); ++i) {
    const auto found = by_name.find(containers.At(i)["name"].AsString());
    if (found != by_name.end()) {
      CopyOrErase(*found->second, "volumeMounts", containers.MutableAt(i));
    }
  }
}

// Tolerations can be added, and not taken away.
json::Value RetainedTolerations(const json::Value& desired, const json::Value& observed) {
  absl::flat_hash_set<std::string> held;
  for (const json::Value& toleration : observed.items()) held.insert(json::Write(toleration));
  json::Value out = observed;
  for (const json::Value& toleration : desired.items()) {
    if (!held.contains(json::Write(toleration))) out.Append(toleration);
  }
  return out;
}

// Gates can be taken away, and not added: by those in the member who have done what they were to
// wait for, by the template, and those of Kueue by Kueue alone.
json::Value RetainedGates(const json::Value& desired, const json::Value& observed) {
  absl::flat_hash_set<absl::string_view> wanted;
  for (const json::Value& gate : desired.items()) wanted.insert(gate["name"].AsString());
  json::Value out = json::Value::Array();
  for (const json::Value& gate : observed.items()) {
    const absl::string_view name = gate["name"].AsString();
    if (wanted.contains(name) || absl::StartsWith(name, kKueueGates)) out.Append(gate);
  }
  return out;
}

}  // namespace

// Unlike upstream's, the result is not rewritten into a typed Pod's canonical form.
absl::StatusOr<kube::Object> RetainPod(const kube::Object& desired, const kube::Object& observed) {
  for (const kube::Object* pod : {&desired, &observed}) {
    RETURN_IF_ERROR(json::FindObject(pod->root(), {"spec"}).status());
    RETURN_IF_ERROR(CheckRetainable(*pod));
  }
  const json::Value& held = observed.spec();
  json::Value spec = Filled(desired.spec(), held);
  for (const absl::string_view field : kOfTheMember) CopyOrErase(held, field, spec);
  for (const absl::string_view containers : kContainers) {
    if (spec[containers].is_array()) RetainMounts(held[containers], spec.Mutable(containers));
  }
  if (held[kTolerations].is_array()) {
    spec.Set(kTolerations, RetainedTolerations(desired.spec()[kTolerations], held[kTolerations]));
  }
  const json::Value gates = RetainedGates(desired.spec()[kGates], held[kGates]);
  if (!gates.empty()) {
    spec.Set(kGates, gates);
  } else if (spec.Has(kGates)) {
    spec.Erase(kGates);
  }
  kube::Object retained = desired;
  retained.Set({"spec"}, std::move(spec));
  return retained;
}

}  // namespace interpreter::native
