// All stories go through their phases at the same time. In each phase the stage
// 1. makes the user's change in the control plane, and waits until it has come to the members;
// 2. writes what the members' controllers write, and deletes what they delete, which the control
//    plane has to make again;
// 3. waits until healths, templates and members' objects are as the phase expects them, while the
//    chronicle watches for healths that nobody expects;
// 4. waits until the controller manager is at rest, and looks once more.
// After the middle phase, and before the templates are deleted at the end, the controller manager
// is started again, and may not write anything for the stories then. What a story has to be
// reported for happens until the middle one: that is waited for, because no rest tells whether it
// was late.
//
// A story that misses something is reported and left out from then on, so that it costs the others
// no time.
#include "tests/stories/stage.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "base/yaml.h"
#include "kube/meta/patch.h"
#include "tests/behaviour/manifests.h"
#include "tests/stories/definitions.h"
#include "tests/stories/fields.h"

namespace tests {
namespace {

void Append(std::vector<std::string>& all, const std::string& where,
            const std::vector<std::string>& mismatches) {
  for (const std::string& one : mismatches) all.push_back(absl::StrCat(where, ": ", one));
}

// Returns how long a story waits for what it expects. Whoever writes a story, and has it fail, sets
// it shorter.
absl::Duration Patience() {
  const char* given = std::getenv("STORY_SECONDS");
  int seconds = 60;
  if (given != nullptr && !absl::SimpleAtoi(given, &seconds)) FAIL("STORY_SECONDS is no number");
  return absl::Seconds(seconds);
}

size_t CountPhases(const std::vector<Story>& stories) {
  size_t count = 0;
  for (const Story& story : stories) count = std::max(count, story.phases.size());
  return count;
}

// Returns the healths that are right in this phase; `and_before`: those of the phase before, too.
std::map<std::string, std::set<std::string>> RightHealths(const Story& story, size_t number,
                                                          bool and_before) {
  const Phase& phase = story.phases[number];
  std::map<std::string, std::set<std::string>> right;
  for (const auto& [member, health] : phase.health) {
    right[member].insert(health);
    if (!and_before) continue;
    right[member].insert(phase.meanwhile.begin(), phase.meanwhile.end());
    if (number == 0) continue;
    const auto before = story.phases[number - 1].health.find(member);
    if (before == story.phases[number - 1].health.end()) {
      right.erase(member);
    } else {
      right[member].insert(before->second);
    }
  }
  return right;
}

}  // namespace

Stage::Stage(ControlPlane& plane, const std::vector<Story>& stories)
    : plane_(plane),
      stories_(stories),
      chronicle_(Chronicle::Begin(*plane.fleet(), stories)),
      probes_ns_(plane.UniqueNamespace("probes")) {}

void Stage::Play() {
  MakeKinds();
  const size_t phases = CountPhases(stories_);
  for (size_t number = 0; number < phases; ++number) {
    PlayPhase(number);
    if (number == (phases - 1) / 2) Restart();
  }
  if (phases > 1) Restart();
  DeleteTemplates();
}

std::vector<std::string> Stage::MissingReports(const Story& story) const {
  const std::vector<std::string> reports = Reports(story);
  std::vector<std::string> missing;
  for (const std::string& part : story.reports) {
    const bool found = std::any_of(reports.begin(), reports.end(), [&](const std::string& report) {
      return absl::StrContains(report, part);
    });
    if (!found) missing.push_back(part);
  }
  return missing;
}

void Stage::MakeKinds() {
  std::string yaml;
  for (const kube::Object& definition : DefinitionsOf(stories_)) {
    absl::StrAppend(&yaml, "---\n", yaml::Write(definition.root()));
  }
  if (!yaml.empty()) plane_.ApplyEverywhere(yaml);
  plane_.Apply("host", In(probes_ns_, kNamespaceYaml));
  for (const Story& story : stories_) {
    plane_.Apply("host", In(story.id, kNamespaceYaml));
  }
}

void Stage::PlayPhase(size_t number) {
  const auto stories = InPhase(number);
  for (const Story* story : stories) BeginPhase(*story, number);
  Await(stories, [&](const Story& s) { return MissingArrival(s, s.phases[number]); });
  for (const Story* story : InPhase(number)) {
    const Phase& phase = story->phases[number];
    for (const char* member : kMembers) PlayMember(*story, phase, member);
    for (const std::string& member : phase.deletes) DeleteIn(member, *story);
  }
  const auto missing = [&](const Story& s) { return MissingResult(s, s.phases[number]); };
  Await(InPhase(number), missing);
  AwaitRest();
  for (const Story* story : InPhase(number)) {
    chronicle_->Expect(*story,
                       {story->phases[number].name, {}, RightHealths(*story, number, false)});
    for (const std::string& text : missing(*story)) chronicle_->Report(*story, text);
  }
}

void Stage::BeginPhase(const Story& story, size_t number) {
  const Phase& phase = story.phases[number];
  Chronicle::Expectation expectation{phase.name, {}, RightHealths(story, number, true)};
  expectation.left = phase.left;
  const kube::ObjectPtr subject = FindSubject("host", story);
  if (number > 0 && subject != nullptr && !phase.user.is_null()) {
    for (const FieldChange& change :
         ChangedFields(subject->root(), kube::ApplyMergePatch(subject->root(), phase.user))) {
      expectation.left.insert(change.path);
    }
  }
  chronicle_->Expect(story, std::move(expectation));
  if (number == 0) {
    MakeTemplates(story);
  } else if (!phase.user.is_null()) {
    Patch("host", story, phase.user);
  }
}

void Stage::MakeTemplates(const Story& story) {
  for (const kube::Object& object : story.templates) Create(story, object);
  Create(story, PolicyOf(story));
}

void Stage::PlayMember(const Story& story, const Phase& phase, const std::string& member) {
  const auto found = phase.member.find(member);
  if (found == phase.member.end()) return;
  json::Value patch = found->second;
  json::Value status = patch["status"];
  if (patch.Erase("status") && story.status_subresource) {
    if (!patch.empty()) Patch(member, story, patch);
    Patch(member, story, json::Value::Object({{"status", std::move(status)}}), "status");
  } else {
    Patch(member, story, found->second);
  }
}

void Stage::DeleteIn(const std::string& member, const Story& story) {
  const kube::ObjectPtr object = FindSubject(member, story);
  if (object == nullptr) return chronicle_->Report(story, member + ": nothing is there to delete");
  deleted_[{&story, member}] = std::string(object->uid());
  const auto gone = BackendOf(member).Delete(BackendOf(member).Find(object->gvk()).gvr(),
                                             object->key(), {.propagation = "Background"});
  if (!gone.ok()) chronicle_->Report(story, absl::StrCat(member, ": ", gone.status().message()));
}

void Stage::Restart() {
  plane_.StopDaemon();
  chronicle_->ReportEveryWrite(true);
  plane_.StartDaemon();
  plane_.Eventually(
      [this] {
        return std::all_of(stories_.begin(), stories_.end(),
                           [this](const Story& story) { return MissingReports(story).empty(); });
      },
      Patience());
  AwaitRest();
  chronicle_->ReportEveryWrite(false);
}

void Stage::DeleteTemplates() {
  std::vector<const Story*> all;
  for (const Story& story : stories_) {
    all.push_back(&story);
    chronicle_->Expect(story, {"deleted", {}, {}});
    for (const kube::Object& object : story.templates) {
      const kube::Gvr resource = BackendOf("host").Find(object.gvk()).gvr();
      (void)BackendOf("host").Delete(resource, object.key(), {.propagation = "Background"});
    }
  }
  Await(all, [this](const Story& story) { return MissingDeletion(story); });
}

void Stage::Await(const std::vector<const Story*>& stories, const Missing& missing) {
  std::vector<const Story*> waiting = stories;
  plane_.Eventually(
      [&] {
        waiting.erase(std::remove_if(waiting.begin(), waiting.end(),
                                     [&](const Story* story) { return missing(*story).empty(); }),
                      waiting.end());
        return waiting.empty();
      },
      Patience());
  for (const Story* story : waiting) {
    for (const std::string& text : missing(*story)) chronicle_->Report(*story, text);
    failed_.insert(story);
  }
}

void Stage::AwaitRest() {
  plane_.AwaitDaemon(probes_ns_);
  plane_.Settles([this] { return absl::StrCat(chronicle_->ControlPlaneWrites()); });
}

std::vector<std::string> Stage::MissingArrival(const Story& story, const Phase& phase) {
  std::vector<std::string> all;
  for (const char* member : kMembers) {
    const kube::ObjectPtr object = FindSubject(member, story);
    if (object == nullptr) {
      all.push_back(absl::StrCat(member, ": the object has not come"));
    } else if (!phase.arrived.is_null()) {
      Append(all, absl::StrCat(member, ", the user's change"),
             Mismatches(phase.arrived, object->root()));
    }
  }
  return all;
}

std::vector<std::string> Stage::MissingResult(const Story& story, const Phase& phase) {
  std::vector<std::string> all = MissingInBinding(story, phase);
  for (const std::string& member : phase.deletes) {
    const kube::ObjectPtr object = FindSubject(member, story);
    if (object == nullptr || object->uid() == deleted_[{&story, member}]) {
      all.push_back(absl::StrCat(member, ": what its controller has deleted is not made again"));
    }
  }
  for (const auto& [member, expected] : phase.expected_member) {
    const kube::ObjectPtr object = FindSubject(member, story);
    if (object == nullptr) {
      all.push_back(absl::StrCat(member, ": the object is gone"));
    } else {
      Append(all, member,
             Mismatches(WithGeneration(expected, object->generation()), object->root()));
    }
  }
  const kube::ObjectPtr subject = FindSubject("host", story);
  if (subject == nullptr) {
    all.push_back("the template is gone");
  } else if (!phase.expected_template.is_null()) {
    Append(all, "the template",
           Mismatches(WithGeneration(phase.expected_template, subject->generation()),
                      subject->root()));
  }
  return all;
}

std::vector<std::string> Stage::MissingInBinding(const Story& story, const Phase& phase) {
  const kube::Gvk& gvk = story.namespaced ? kBinding : kClusterBinding;
  const kube::ObjectPtr binding =
      Find("host", gvk,
           {std::string(story.subject().ns()),
            api::BindingName(story.subject().kind(), story.subject().name())});
  if (binding == nullptr) return {"there is no binding"};
  std::vector<std::string> all;
  for (const char* member : kMembers) {
    json::Value item;
    for (const json::Value& one : binding->Get({"status", "aggregatedStatus"}).items()) {
      if (one["clusterName"] == member) item = one;
    }
    json::Value expected = json::Value::Object({{"applied", true}});
    const auto health = phase.health.find(member);
    if (health != phase.health.end()) expected.Set("health", health->second);
    Append(all, absl::StrCat(member, ", aggregatedStatus ", Shown(item)),
           Mismatches(expected, item));
  }
  return all;
}

std::vector<std::string> Stage::MissingDeletion(const Story& story) {
  std::vector<std::string> all;
  for (const char* member : kMembers) {
    FinalizeIn(member, story);
    if (FindSubject(member, story) != nullptr) {
      all.push_back(absl::StrCat(member, ": the object stays"));
    }
  }
  if (FindSubject("host", story) != nullptr) all.push_back("the template stays");
  return all;
}

void Stage::FinalizeIn(const std::string& member, const Story& story) {
  const kube::ObjectPtr object = FindSubject(member, story);
  if (object == nullptr || !object->IsDeleting()) return;
  if (object->metadata()["finalizers"].empty()) return;
  const json::Value patch =
      json::Value::Object({{"metadata", json::Value::Object({{"finalizers", json::Value()}})}});
  // The object may have gone in the meantime.
  (void)BackendOf(member).Patch(BackendOf(member).Find(object->gvk()).gvr(), object->key(),
                                {.patch = patch});
}

std::vector<const Story*> Stage::InPhase(size_t number) const {
  std::vector<const Story*> in;
  for (const Story& story : stories_) {
    if (number < story.phases.size() && failed_.count(&story) == 0) in.push_back(&story);
  }
  return in;
}

sandbox::Backend& Stage::BackendOf(const std::string& cluster) {
  sandbox::Fleet& fleet = *plane_.fleet();
  return cluster == "host" ? fleet.control_plane().backend() : fleet.member(cluster)->backend();
}

kube::ObjectPtr Stage::Find(const std::string& cluster, const kube::Gvk& gvk,
                            const kube::ObjectKey& key) {
  sandbox::Backend& backend = BackendOf(cluster);
  auto object = backend.Get(backend.Find(gvk).gvr(), key);
  return object.ok() ? *std::move(object) : nullptr;
}

kube::ObjectPtr Stage::FindSubject(const std::string& cluster, const Story& story) {
  return Find(cluster, story.subject().gvk(), story.subject().key());
}

void Stage::Create(const Story& story, const kube::Object& object) {
  sandbox::Backend& backend = BackendOf("host");
  const auto created = backend.Create(backend.Find(object.gvk()).gvr(), object);
  if (created.ok()) return;
  chronicle_->Report(story,
                     absl::StrCat(object.Describe(), " is refused: ", created.status().message()));
}

void Stage::Patch(const std::string& cluster, const Story& story, const json::Value& patch,
                  const std::string& subresource) {
  const kube::ObjectPtr object = FindSubject(cluster, story);
  const int64_t generation = object == nullptr ? 0 : object->generation();
  sandbox::Backend& backend = BackendOf(cluster);
  const auto patched =
      backend.Patch(backend.Find(story.subject().gvk()).gvr(), story.subject().key(),
                    {.patch = WithGeneration(patch, generation), .subresource = subresource});
  if (patched.ok()) return;
  chronicle_->Report(
      story,
      absl::StrCat(cluster, ": a step of the story is refused: ", patched.status().message()));
}

}  // namespace tests
