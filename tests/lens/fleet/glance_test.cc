// The quick look at a template, and the causes found by lists, against what `why` says of the same
// situations.
#include "lens/fleet/glance.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "api/resources.h"
#include "lens/fleet/judge.h"
#include "lens/why/diagnosis.h"
#include "tests/lens/why/situations.h"

namespace {

using lens::fleet::Candidate;
using lens::why::Objects;

// Everything that the reader would have of a situation, and what `why` says without the members.
struct Stage {
  lens::why::Chain whole;  // As `why` has it, but for the members.
  lens::why::Chain shared;
  Objects overrides, spaces, bindings;
  lens::fleet::EventsByObject events;
  lens::fleet::Existence existence;
  Candidate candidate;
  bool is_warned = false;
};

bool IsShared(const kube::Gvk& gvk) {
  return gvk == api::PropagationPolicies().gvk || gvk == api::ClusterPropagationPolicies().gvk ||
         gvk == api::ClusterOverridePolicies().gvk || gvk == api::Clusters().gvk ||
         gvk == api::Namespaces().gvk || gvk == api::Leases().gvk;
}

Stage StageOf(const tests::Situation& situation) {
  const Objects objects = tests::ObjectsOf(situation);
  const lens::why::Question question = tests::QuestionOf(situation);
  Stage stage{lens::why::MakeChain(question, objects, tests::TimeOfSituations()).value(),
              lens::why::EmptyChain(question, tests::TimeOfSituations()).value()};
  stage.shared.asked.gvk = {};
  stage.shared.asked.key = {};
  stage.shared.rules = stage.whole.rules;
  Objects shared;
  for (const kube::ObjectPtr& object : objects) {
    const kube::Gvk gvk = object->gvk();
    if (IsShared(gvk)) shared.push_back(object);
    if (gvk == api::OverridePolicies().gvk) stage.overrides.push_back(object);
    if (gvk == api::Namespaces().gvk) stage.spaces.push_back(object);
    const bool is_binding =
        gvk == api::ResourceBindings().gvk || gvk == api::ClusterResourceBindings().gvk;
    if (is_binding) stage.bindings.push_back(object);
    if (gvk == api::Events().gvk) {
      stage.events[lens::fleet::SubjectOf(*object)].push_back(object);
    }
  }
  lens::why::FileObjects(shared, stage.shared);
  for (const auto& policy : stage.overrides) stage.shared.override_names.insert(policy->key());
  for (const api::DependentReference& need : stage.whole.needed) {
    const auto& missing = stage.whole.missing;
    stage.existence[need.Describe()] =
        std::find(missing.begin(), missing.end(), need) == missing.end();
  }
  stage.candidate.gvk = question.gvk;
  stage.candidate.key = question.key;
  stage.candidate.object = stage.whole.object;
  stage.candidate.binding = stage.whole.binding;
  stage.candidate.works = stage.whole.works;
  for (const std::string& name : lens::fleet::Judge::SubjectsOf(stage.candidate)) {
    stage.is_warned = stage.is_warned || stage.events.count(name) > 0;
  }
  return stage;
}

bool IsFineAtAGlance(const Stage& stage) {
  const lens::fleet::Glance glance(stage.shared, stage.overrides, stage.bindings);
  Candidate candidate = stage.candidate;
  if (stage.is_warned || !glance.IsFine(candidate)) return false;
  for (const auto& [cluster, work] : candidate.works) {
    if (!glance.IsFine(candidate, cluster, *work)) return false;
    candidate.places.push_back(cluster);
  }
  return glance.HasItsWorks(candidate);
}

// Returns whether the question is one about a template that lists show.
bool IsAboutTemplate(const tests::Situation& situation, const Stage& stage) {
  const bool is_there = stage.candidate.object != nullptr || stage.candidate.binding != nullptr;
  const std::string& cluster = stage.whole.asked.cluster;
  if (!cluster.empty() && stage.whole.Targets().empty()) return false;
  return is_there && !api::IsKarmadaGroup(stage.candidate.gvk.group) &&
         stage.candidate.gvk != api::Namespaces().gvk && situation.document["unread"].is_null();
}

}  // namespace

TEST_CASE("Fleet: what is fine at a glance is fine by every check") {
  int fine = 0, doubted = 0;
  for (const tests::Situation& situation : tests::ReadSituations()) {
    INFO(situation.file << ": " << situation.Text("name"));
    const Stage stage = StageOf(situation);
    if (!IsAboutTemplate(situation, stage)) continue;
    if (!IsFineAtAGlance(stage)) {
      ++doubted;
      continue;
    }
    ++fine;
    const lens::why::Diagnosis diagnosis = lens::why::Diagnose(stage.whole);
    const bool is_note =
        diagnosis.cause == nullptr || diagnosis.cause->grade == lens::why::Grade::kNote;
    INFO(diagnosis.headline);
    CHECK(is_note);
  }
  CHECK(fine > 10);
  CHECK(doubted > 50);
}

TEST_CASE("Fleet: lists lead to the cause that `why` finds without the members") {
  int compared = 0;
  for (const tests::Situation& situation : tests::ReadSituations()) {
    INFO(situation.file << ": " << situation.Text("name"));
    const Stage stage = StageOf(situation);
    // Lists do not show who needs an object that has no binding.
    const bool is_comparable = IsAboutTemplate(situation, stage) &&
                               stage.whole.service_owner == nullptr &&
                               (stage.whole.binding != nullptr || stage.whole.dependents.empty());
    if (!is_comparable) continue;
    const lens::fleet::Glance glance(stage.shared, stage.overrides, stage.bindings);
    const lens::fleet::Judge judge(stage.shared, stage.overrides, stage.spaces, glance);
    const auto trouble = judge.Of(stage.candidate, stage.events, stage.existence);
    lens::why::Chain whole = stage.whole;
    whole.is_of_lists = true;
    const lens::why::Diagnosis diagnosis = lens::why::Diagnose(whole);
    const bool is_note =
        diagnosis.cause == nullptr || diagnosis.cause->grade == lens::why::Grade::kNote;
    CHECK(trouble.has_value() == !is_note);
    if (!trouble.has_value() || is_note) continue;
    CHECK(trouble->headline == diagnosis.headline);
    CHECK(trouble->cause.advice == diagnosis.cause->advice);
    CHECK(trouble->brief.find('$') == std::string::npos);
    ++compared;
  }
  CHECK(compared > 50);
}
