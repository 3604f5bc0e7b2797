// The chronicle hangs an admission step into each server of the fleet. It runs for every write, on
// the thread of the writer, with the object as it was and as it shall be; the user is empty for
// writes to the backend, and the name of the controller manager's account for those over HTTP. An
// admission step also runs for a write that then loses a race and is tried again: it wanted the
// change all the same, so it counts.
//
// For each object of a story in a member, FieldOwners holds the fields that the member's side wrote
// last. A creation begins again.
//
// A subscription on bindings sees every state that was stored, however short it lasted, and
// compares the healths in it with those that the stage expects at that moment.
#include "tests/stories/chronicle.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tests {
namespace {

constexpr const char* kBindingResources[] = {"resourcebindings", "clusterresourcebindings"};

std::string VerbOf(const sandbox::AdmissionRequest& request) {
  return request.subresource.empty() ? request.verb
                                     : absl::StrCat(request.verb, " ", request.subresource);
}

// Returns what the write changes, for a message.
std::string ChangesOf(const sandbox::AdmissionRequest& request, const kube::Object& object) {
  if (request.verb != sandbox::Verbs::kUpdate) return "";
  std::string text;
  for (const FieldChange& change : ChangedFields(request.old_object.root(), object.root())) {
    absl::StrAppend(&text, "; ", change.path, ": from ", Shown(change.before), " to ",
                    Shown(change.after));
  }
  return text.empty() ? "; nothing changes" : text;
}

}  // namespace

Chronicle::Chronicle(const std::vector<Story>& stories) {
  for (const Story& story : stories) by_id_[story.id] = &story;
}

std::shared_ptr<Chronicle> Chronicle::Begin(sandbox::Fleet& fleet,
                                            const std::vector<Story>& stories) {
  const std::shared_ptr<Chronicle> chronicle(new Chronicle(stories));
  sandbox::Backend& plane = fleet.control_plane().backend();
  plane.AddAdmission([chronicle](const sandbox::AdmissionRequest& request, kube::Object& object) {
    chronicle->OnPlaneWrite(request, object);
    return absl::OkStatus();
  });
  for (const char* member : kMembers) {
    fleet.member(member)->backend().AddAdmission(
        [chronicle, member](const sandbox::AdmissionRequest& request, kube::Object& object) {
          chronicle->OnMemberWrite(member, request, object);
          return absl::OkStatus();
        });
  }
  for (const char* resource : kBindingResources) {
    plane.Subscribe({"work.karmada.io", "v1alpha2", resource},
                    [chronicle](const sandbox::Event& event) {
                      const bool stored = event.type == sandbox::Event::Type::kAdded ||
                                          event.type == sandbox::Event::Type::kModified;
                      if (stored) chronicle->OnBinding(*event.object);
                    });
  }
  return chronicle;
}

void Chronicle::Expect(const Story& story, Expectation expectation) {
  const absl::MutexLock lock(&mu_);
  entries_[story.id].expectation = std::move(expectation);
}

void Chronicle::Report(const Story& story, const std::string& text) {
  const absl::MutexLock lock(&mu_);
  AddReport(story, text);
}

void Chronicle::AddReport(const Story& story, const std::string& text) {
  Entry& entry = entries_[story.id];
  std::string report = absl::StrCat(story.file, ", phase ", entry.expectation.phase, ", ", text);
  const auto end = entry.reports.end();
  if (std::find(entry.reports.begin(), end, report) == end) {
    entry.reports.push_back(std::move(report));
  }
}

std::vector<std::string> Chronicle::Reports(const Story& story) const {
  const absl::MutexLock lock(&mu_);
  const auto found = entries_.find(story.id);
  return found == entries_.end() ? std::vector<std::string>() : found->second.reports;
}

int64_t Chronicle::ControlPlaneWrites() const {
  const absl::MutexLock lock(&mu_);
  return writes_;
}

void Chronicle::ReportEveryWrite(bool on) {
  const absl::MutexLock lock(&mu_);
  every_write_ = on;
}

const Story* Chronicle::StoryOf(const kube::Object& object) const {
  // The object in a Work is the template's.
  const json::Value& manifest = object.Get({"spec", "workload", "manifests"}).At(0);
  if (object.kind() == "Work" && manifest.is_object()) return StoryOf(kube::Object(manifest));
  if (object.kind() == "Namespace") return nullptr;
  const std::string id(object.ns().empty() ? object.name() : object.ns());
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return found->second;
  // A binding of a cluster-scoped template names it.
  const auto bound = by_id_.find(object.Get({"spec", "resource", "name"}).ToString());
  return object.ns().empty() && bound != by_id_.end() ? bound->second : nullptr;
}

void Chronicle::CountWrite(const Story& story, const std::string& cluster,
                           const sandbox::AdmissionRequest& request, const kube::Object& object) {
  ++writes_;
  if (!every_write_) return;
  AddReport(story, absl::StrCat(cluster, ": the restarted controller manager writes although ",
                                "nothing has happened: ", VerbOf(request), " ", object.Describe(),
                                ChangesOf(request, object)));
}

void Chronicle::OnPlaneWrite(const sandbox::AdmissionRequest& request, const kube::Object& object) {
  if (request.user.empty()) return;
  const Story* story = StoryOf(object);
  if (story == nullptr) return;
  const absl::MutexLock lock(&mu_);
  CountWrite(*story, "the control plane", request, object);
}

void Chronicle::OnMemberWrite(const std::string& member, const sandbox::AdmissionRequest& request,
                              const kube::Object& object) {
  const Story* story = StoryOf(object);
  if (story == nullptr || request.dry_run) return;
  const bool ours = !request.user.empty();
  const absl::MutexLock lock(&mu_);
  if (ours) CountWrite(*story, member, request, object);
  FieldOwners& owners = owners_[{member, request.resource.gvk, object.key()}];
  if (request.verb == sandbox::Verbs::kCreate) owners = {};
  if (request.verb != sandbox::Verbs::kUpdate || !request.subresource.empty()) return;
  if (!ours) {
    owners.MemberWrote(request.old_object.root(), object.root());
    return;
  }
  const Expectation& expected = entries_[story->id].expectation;
  for (const FieldChange& change :
       owners.ControlPlaneWrote(request.old_object.root(), object.root(), expected.left)) {
    AddReport(*story, absl::StrCat(member, ": fight over ", object.kind(), " ", change.path,
                                   ": the member's side wrote ", Shown(change.before),
                                   ", the control plane overwrites it with ", Shown(change.after)));
  }
}

void Chronicle::OnBinding(const kube::Object& binding) {
  const Story* story = StoryOf(binding);
  if (story == nullptr) return;
  const absl::MutexLock lock(&mu_);
  const Expectation& expected = entries_[story->id].expectation;
  for (const json::Value& item : binding.Get({"status", "aggregatedStatus"}).items()) {
    const std::string member = item["clusterName"].ToString();
    const std::string health = item["health"].ToString("Unknown");
    const auto allowed = expected.healths.find(member);
    // Unknown is the health before the first status has been collected.
    if (allowed == expected.healths.end() || health == "Unknown") continue;
    if (allowed->second.count(health) > 0) continue;
    AddReport(*story, absl::StrCat(member, ": false health: ", health, " with the status ",
                                   json::Write(item["status"])));
  }
  for (const json::Value& task : binding.Get({"spec", "gracefulEvictionTasks"}).items()) {
    AddReport(*story, absl::StrCat(task["fromCluster"].AsString(),
                                   ": false failover: ", task["reason"].AsString()));
  }
}

}  // namespace tests
