// Bindings that upstream made are taken over without a write: its states are recorded in
// tests/data/scenarios.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/policy.h"
#include "api/policy_scope.h"
#include "api/priority_class.h"
#include "base/files.h"
#include "detector/binding_builder.h"
#include "tests/support/members_fixture.h"

namespace {

using api::policy_scope::Cluster;
using api::policy_scope::Namespaced;

// The objects after one step of a scenario, by their keys in recordings.
class State {
 public:
  // What the recording says of the step: the text "=" stands for an object as it was `before`.
  State(const json::Value& recorded, const State* before) {
    for (const json::Member& entry : recorded.members()) {
      const bool same = entry.value == json::Value("=");
      const std::string key(entry.name());
      objects_[key] = same ? before->objects_.at(key) : entry.value;
    }
  }

  std::optional<kube::Object> Find(absl::string_view kind, const kube::ObjectKey& key) const {
    const auto found = objects_.find(absl::StrCat("host/", kind, "/", key.ns, "/", key.name));
    if (found == objects_.end()) return std::nullopt;
    return kube::Object(found->second);
  }
  const std::map<std::string, json::Value>& objects() const { return objects_; }

 private:
  std::map<std::string, json::Value> objects_;
};

std::vector<std::string> Scenarios() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator("tests/data/scenarios")) {
    const std::string path = file.path().string();
    if (absl::EndsWith(path, ".upstream.json")) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

json::Value Recorded(const std::string& path) { return tests::Json(base::ReadFile(path).value()); }

struct Fixture : tests::MembersFixture {
  // Upstream's gates were on if the binding has what they are for.
  detector::SchedulingHints Hints(const kube::Object& binding, const kube::Object& object,
                                  const kube::Object& policy) {
    detector::SchedulingHints hints;
    if (binding.spec().Has("schedulePriority")) {
      hints.priority = *detector::SchedulePriorityOf(policy, cluster, {});
    }
    if (binding.spec().Has("workloadAffinityGroups")) {
      hints.affinity_groups = detector::AffinityGroupsOf(policy, object);
    }
    return hints;
  }
  // Returns the binding as a pass over its template would leave it.
  template <class Scope>
  absl::StatusOr<kube::Object> Passed(const kube::Object& binding, const kube::Object& object,
                                      const kube::Object& policy) {
    detector::PodDemand demand;
    if (chain->HasRule(object.gvk(), interpreter::Operation::kInterpretReplica)) {
      demand = *chain->GetReplicas(object);
    }
    return detector::MergeBinding<Scope>(
        binding,
        detector::BuildBinding<Scope>(object, policy, demand, Hints(binding, object, policy)));
  }
  // Compares one binding of the state, and returns whether that was possible: a policy has claimed
  // it, which is there like the template.
  bool IsCompared(const kube::Object& binding, const State& state) {
    // One that a MultiClusterService has taken over; upstream leaves the claim of the policy there.
    if (!binding.Annotation(api::kMultiClusterServiceNameLabel).empty()) return false;
    // By a customization, which the states lack.
    if (binding.spec().Has("components")) return false;
    const api::ObjectReference reference = api::BindingView(binding).Resource();
    const std::optional<kube::Object> object = state.Find(reference.kind, reference.key());
    const kube::ObjectKey key = Namespaced::ClaimOn(binding);
    const std::optional<kube::Object> policy =
        key.name.empty() ? state.Find(Cluster::kKind, Cluster::ClaimOn(binding))
                         : state.Find(Namespaced::kKind, key);
    if (!object.has_value() || !policy.has_value()) return false;
    if (api::PolicyView(*policy).IsLazy()) return false;  // Its bindings may be older than it.
    const absl::StatusOr<kube::Object> passed = key.name.empty()
                                                    ? Passed<Cluster>(binding, *object, *policy)
                                                    : Passed<Namespaced>(binding, *object, *policy);
    REQUIRE(passed.ok());
    INFO("upstream: " << json::Write(binding.root()) << "\nours: " << json::Write(passed->root()));
    CHECK(detector::DifferOnlyInTemplateVersion(*passed, binding));
    return true;
  }
};

TEST_CASE_METHOD(Fixture, "bindings that upstream has made are what ours would be") {
  int compared = 0;
  for (const std::string& scenario : Scenarios()) {
    if (scenario.find("quota-overall") != std::string::npos)
      continue;  // Updates are refused there.
    const json::Value steps = Recorded(scenario);
    std::optional<State> state;
    for (const json::Member& step : steps.members()) {
      state = State(step.value, state.has_value() ? &*state : nullptr);
      for (const auto& [key, object] : state->objects()) {
        if (!absl::StartsWith(key, "host/PriorityClass/")) continue;
        server->Put(api::PriorityClasses(), kube::Object(object));
      }
      for (const auto& [key, object] : state->objects()) {
        if (!absl::StartsWith(key, "host/ResourceBinding/") &&
            !absl::StartsWith(key, "host/ClusterResourceBinding/")) {
          continue;
        }
        INFO(scenario << ", " << step.name() << ", " << key);
        if (IsCompared(kube::Object(object), *state)) ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

}  // namespace
