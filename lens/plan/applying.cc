// Objects are sorted by what refers to what: definitions, namespaces, clusters, rules, overrides,
// policies, templates. Each is applied whether or not another one was refused, so that one run
// reports all problems. Quotas come after everything else is placed, and what is placed is booked
// on them then, as the daemon does it with a new quota. Nothing is kept between calls but problems.

#include "lens/plan/applying.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/binding_usage.h"
#include "api/resources.h"
#include "base/status.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"
#include "sandbox/unknown_fields.h"

namespace lens::plan {
namespace {

// The order in which objects are applied: what others refer to comes first.
enum class Rank { kDefinition, kNamespace, kCluster, kRule, kOverride, kPolicy, kTemplate };

bool IsOneOf(const kube::Object& object, std::initializer_list<const kube::Resource*> resources) {
  return std::any_of(resources.begin(), resources.end(), [&](const kube::Resource* resource) {
    return object.gvk().kind == resource->gvk.kind && object.gvk().group == resource->gvk.group;
  });
}

Rank RankOf(const kube::Object& object) {
  if (IsOneOf(object, {&sandbox::kinds::Definitions()})) return Rank::kDefinition;
  if (IsOneOf(object, {&api::Namespaces()})) return Rank::kNamespace;
  if (IsOneOf(object, {&api::Clusters()})) return Rank::kCluster;
  if (IsOneOf(object, {&api::InterpreterCustomizations()})) return Rank::kRule;
  if (IsOneOf(object, {&api::OverridePolicies(), &api::ClusterOverridePolicies()})) {
    return Rank::kOverride;
  }
  if (IsOneOf(object, {&api::PropagationPolicies(), &api::ClusterPropagationPolicies()})) {
    return Rank::kPolicy;
  }
  return Rank::kTemplate;
}

std::vector<const InputObject*> InOrder(const std::vector<InputObject>& objects) {
  std::vector<const InputObject*> ordered;
  for (const InputObject& read : objects) {
    if (IsSimulated(read.object)) ordered.push_back(&read);
  }
  // Stable, so that objects of one rank keep the order of the files.
  std::stable_sort(ordered.begin(), ordered.end(), [](const InputObject* a, const InputObject* b) {
    return RankOf(a->object) < RankOf(b->object);
  });
  return ordered;
}

// Returns the field that a server's message names first: "... is invalid: spec.replicas: ...".
std::string FieldIn(absl::string_view message) {
  constexpr absl::string_view kInvalid = " is invalid: ";
  const size_t at = message.find(kInvalid);
  if (at == absl::string_view::npos) return "";
  message.remove_prefix(at + kInvalid.size());
  absl::ConsumePrefix(&message, "[");
  return std::string(message.substr(0, message.find(':')));
}

// Returns what the workloads of the namespace use.
absl::StatusOr<api::ResourceList> UsedIn(sandbox::Backend& backend, absl::string_view ns) {
  api::ResourceList used;
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> bindings,
                   backend.List(api::ResourceBindings().gvr(), ns, kube::LabelSelector()));
  for (const kube::ObjectPtr& binding : bindings) {
    ASSIGN_OR_RETURN(const api::ResourceList some, api::UsageOf(api::BindingView(*binding)));
    used.Add(some);
  }
  return used;
}

// Books what is placed already on the quotas on which nothing is booked. The daemon does so with
// each quota that is new.
absl::Status BookQuotas(sandbox::Backend& backend) {
  const kube::Gvr quotas = api::FederatedResourceQuotas().gvr();
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> all,
                   backend.List(quotas, "", kube::LabelSelector()));
  for (const kube::ObjectPtr& quota : all) {
    if (!quota->status()["overallUsed"].is_null()) continue;
    ASSIGN_OR_RETURN(api::ResourceList used, UsedIn(backend, quota->ns()));
    used.KeepOnly(quota->spec()["overall"]);
    json::Value status = quota->status();
    status.Set("overallUsed", used.ToJson());
    RETURN_IF_ERROR(sandbox::WriteStatus(backend, quotas, *quota, std::move(status)));
  }
  return absl::OkStatus();
}

kube::Object InventedCluster(int number) {
  return kube::Object::Make(api::Clusters().gvk, {"", absl::StrCat("member", number)});
}

}  // namespace

bool IsSimulated(const kube::Object& object) {
  return RankOf(object) != Rank::kTemplate || !api::IsKarmadaGroup(object.gvk().group);
}

bool IsScenery(const kube::Object& object) {
  const Rank rank = RankOf(object);
  return rank == Rank::kCluster || rank == Rank::kDefinition || !IsSimulated(object);
}

void Applying::ServeKinds(const std::vector<InputObject>& objects) {
  for (const InputObject* read : InOrder(objects)) {
    Add(*read, RankOf(read->object) == Rank::kDefinition
                   ? plane_.Apply(read->object)
                   : plane_.ResourceFor(read->object).status());
  }
}

void Applying::CheckFields(const std::vector<InputObject>& objects) {
  for (const InputObject& read : objects) {
    // What the file says, which may have been merged into a live object since.
    const kube::Object written(read.document.value);
    for (const std::string& field : sandbox::UnknownFields(plane_.backend(), written)) {
      problems_.Add(read.PlaceOf(field), absl::StrCat(written.Describe(), " has a field \"", field,
                                                      "\", which its kind does not know"));
    }
  }
}

absl::Status Applying::Apply(const std::vector<InputObject>& objects) {
  for (const InputObject* read : InOrder(objects)) Add(*read, plane_.Apply(read->object));
  return problems_.ToStatus();
}

absl::Status Applying::ApplyForFleet(const std::vector<InputObject>& objects) {
  for (const InputObject& read : objects) {
    if (IsOneOf(read.object, {&api::ClusterTaintPolicies(), &api::FederatedResourceQuotas()})) {
      Add(read, plane_.Apply(read.object));
    }
  }
  RETURN_IF_ERROR(problems_.ToStatus());
  return BookQuotas(plane_.backend());
}

absl::Status Applying::InventClusters(int count) {
  for (int i = 1; i <= count; ++i) {
    RETURN_IF_ERROR(base::Annotate(plane_.Apply(InventedCluster(i)), "adding member", i));
  }
  return absl::OkStatus();
}

void Applying::Add(const InputObject& read, const absl::Status& status) {
  if (!status.ok()) problems_.Add(read.PlaceOf(FieldIn(status.message())), status.message());
}

}  // namespace lens::plan
