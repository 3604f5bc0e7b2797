// A plan starts one simulated control plane. What is there now is applied first and comes to rest;
// then what shall be there is applied over it. So placements that need not change stay where they
// are, as they would on the real control plane.
#include "lens/plan/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/resources.h"
#include "base/status.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/findings.h"
#include "sandbox/sim/kinds.h"

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

// Returns whether the object has a part in a plan. Of Karmada's own kinds only those of RankOf
// have.
bool IsSimulated(const kube::Object& object) {
  return RankOf(object) != Rank::kTemplate || !api::IsKarmadaGroup(object.gvk().group);
}

std::vector<const InputObject*> InOrder(const std::vector<InputObject>& objects) {
  std::vector<const InputObject*> ordered;
  for (const InputObject& read : objects) {
    if (IsSimulated(read.object)) ordered.push_back(&read);
  }
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

void AddProblem(const InputObject& read, const absl::Status& status, Problems& problems) {
  problems.Add(read.PlaceOf(FieldIn(status.message())), status.message());
}

kube::Object InventedCluster(int number) {
  return kube::Object::Make(api::Clusters().gvk, {"", absl::StrCat("member", number)});
}

class Planner {
 public:
  Planner(const PlanRequest& request, DryControlPlane& plane) : request_(request), plane_(plane) {}

  absl::StatusOr<Plan> Make(const base::StopToken& stop) {
    ServeKinds();
    Outcome before;
    if (!request_.base.empty()) {
      RETURN_IF_ERROR(Apply(request_.base));
      RETURN_IF_ERROR(AddInventedClusters());
      RETURN_IF_ERROR(plane_.Settle(stop));
      ASSIGN_OR_RETURN(before, Read());
      RETURN_IF_ERROR(DeleteWhatIsGone());
    }
    RETURN_IF_ERROR(Apply(request_.objects));
    RETURN_IF_ERROR(AddInventedClusters());
    RETURN_IF_ERROR(plane_.Settle(stop));
    return Result(before);
  }

 private:
  // Makes every kind of the objects served before Clusters report what they serve.
  void ServeKinds() {
    for (const auto* objects : {&request_.base, &request_.objects}) {
      for (const InputObject* read : InOrder(*objects)) {
        const absl::Status served = RankOf(read->object) == Rank::kDefinition
                                        ? plane_.Apply(read->object)
                                        : plane_.ResourceFor(read->object).status();
        if (!served.ok()) AddProblem(*read, served, problems_);
      }
    }
  }

  absl::Status Apply(const std::vector<InputObject>& objects) {
    for (const InputObject* read : InOrder(objects)) {
      const absl::Status applied = plane_.Apply(read->object);
      if (!applied.ok()) AddProblem(*read, applied, problems_);
    }
    return problems_.ToStatus();
  }

  absl::Status AddInventedClusters() {
    for (int i = 1; i <= request_.clusters; ++i) {
      RETURN_IF_ERROR(base::Annotate(plane_.Apply(InventedCluster(i)), "adding member", i));
    }
    return absl::OkStatus();
  }

  absl::Status DeleteWhatIsGone() {
    std::set<ObjectId> stay;
    for (const InputObject& read : request_.objects) stay.insert(ObjectId::Of(read.object));
    std::vector<const InputObject*> ordered = InOrder(request_.base);
    for (auto read = ordered.rbegin(); read != ordered.rend(); ++read) {
      const Rank rank = RankOf((*read)->object);
      // A plan does not ask what the loss of a cluster or of a kind means.
      const bool may_go = rank != Rank::kCluster && rank != Rank::kDefinition;
      if (!may_go || stay.contains(ObjectId::Of((*read)->object))) continue;
      RETURN_IF_ERROR(plane_.Delete((*read)->object));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Outcome> Read() {
    ASSIGN_OR_RETURN(const State state, StateOf(plane_.backend()));
    return OutcomeOf(state);
  }

  absl::StatusOr<Plan> Result(const Outcome& before) {
    ASSIGN_OR_RETURN(const Outcome after, Read());
    Plan plan;
    plan.templates = Compare(before, after, request_.objects);
    plan.findings = FindingsOf({request_.objects, after, plane_.backend(), request_.daemon,
                                plane_.Warnings(), plane_.assumed_kinds()});
    for (const InputObject& read : request_.objects) {
      if (IsSimulated(read.object)) continue;
      plan.findings.push_back({read.place(), finding::kNotSimulated, read.object.Describe(),
                               "a plan takes no account of objects of this kind"});
    }
    std::sort(plan.findings.begin(), plan.findings.end());
    ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> clusters,
                     plane_.backend().List(api::Clusters().gvr(), "", kube::LabelSelector()));
    plan.clusters = clusters.size();
    return plan;
  }

  const PlanRequest& request_;
  DryControlPlane& plane_;
  Problems problems_;
};

}  // namespace

absl::StatusOr<Plan> MakePlan(const PlanRequest& request, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<DryControlPlane> plane,
                   DryControlPlane::Start(request.daemon));
  return Planner(request, *plane).Make(stop);
}

}  // namespace lens::plan
