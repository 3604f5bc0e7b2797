// Warnings are read first, since they cast doubt on templates that look fine; what else was said,
// and what templates need, only of those that are not. Few questions are asked one by one, many as
// one list of which only the answers are kept. What could not be read is not known, and nothing
// follows.

#include "lens/fleet/evidence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/dependencies.h"
#include "api/names.h"
#include "api/resources.h"
#include "lens/why/questions.h"

namespace lens::fleet {

std::vector<std::string> EventFields() {
  return {"metadata.creationTimestamp",
          "involvedObject",
          "reason",
          "message",
          "type",
          "firstTimestamp",
          "lastTimestamp",
          "eventTime",
          "count"};
}

void Evidence::List(const std::string& selector, absl::FunctionRef<void(kube::ObjectPtr)> take) {
  kube::ListOptions options;
  options.fields = EventFields();
  options.field_selector = selector;
  const auto take_page = [&](kube::ListPage page, bool) {
    for (kube::Object& event : page.items) take(kube::Share(std::move(event)));
  };
  lists_.Pages(api::Events(), scope_.ns, Weight::kHelps, options, take_page);
  if (scope_.ns.empty()) return;
  options.field_selector = absl::StrCat(selector, ",involvedObject.kind=", api::Works().gvk.kind);
  const std::string ns = scope_.cluster.empty() ? "" : api::ExecutionNamespace(scope_.cluster);
  lists_.Pages(api::Events(), ns, Weight::kHelps, options, take_page);
}

void Evidence::ReadWarnings() {
  List("type=Warning",
       [this](const kube::ObjectPtr& event) { events_[SubjectOf(*event)].push_back(event); });
}

bool Evidence::IsWarnedOf(const Candidate& candidate) const {
  const std::vector<std::string> subjects = Judge::SubjectsOf(candidate);
  return std::any_of(subjects.begin(), subjects.end(),
                     [&](const std::string& name) { return events_.count(name) > 0; });
}

void Evidence::ReadMore(const std::vector<Candidate>& candidates) {
  std::set<std::string> warned;
  for (const Candidate& candidate : candidates) {
    if (candidate.seems_fine) continue;
    for (const std::string& name : Judge::SubjectsOf(candidate)) {
      if (IsWarnedOf(name)) warned.insert(name);
    }
  }
  if (!warned.empty()) ReadOtherEvents(warned);
  ReadNeeds(candidates);
}

void Evidence::ReadOtherEvents(const std::set<std::string>& subjects) {
  const auto keep = [&](const kube::ObjectPtr& event) {
    const std::string subject = SubjectOf(*event);
    if (subjects.count(subject) > 0) events_[subject].push_back(event);
  };
  if (subjects.size() >= kListFrom) return List("type!=Warning", keep);
  kube::ListOptions options;
  options.fields = EventFields();
  for (const std::string& subject : subjects) {
    const kube::Object& warning = *events_[subject][0];
    const json::Value& involved = warning.root()["involvedObject"];
    options.field_selector =
        absl::StrCat("type!=Warning,involvedObject.kind=", involved["kind"].AsString(),
                     ",involvedObject.name=", involved["name"].AsString());
    const std::string ns = involved["namespace"].ToString("default");
    for (const kube::ObjectPtr& event : lists_.All(api::Events(), ns, Weight::kHelps, options)) {
      keep(event);
    }
  }
}

void Evidence::ReadNeeds(const std::vector<Candidate>& candidates) {
  std::map<kube::Gvk, std::map<std::string, kube::ObjectKey>> wanted;
  for (const Candidate& candidate : candidates) {
    if (candidate.seems_fine || candidate.binding == nullptr) continue;
    if (!api::BindingView(*candidate.binding).PropagateDeps()) continue;
    for (const auto& need : api::RecordedDependencies(*candidate.binding)) {
      if (!need.name.empty()) wanted[need.gvk()][need.Describe()] = {need.ns, need.name};
    }
  }
  for (const auto& [gvk, needs] : wanted) {
    const kube::Resource* resource = why::ServedAs(discovery_, gvk);
    if (resource != nullptr) ReadNeedsOf(*resource, needs);
  }
}

void Evidence::ReadNeedsOf(const kube::Resource& resource,
                           const std::map<std::string, kube::ObjectKey>& needs) {
  if (needs.size() < kListFrom) {
    for (const auto& [name, key] : needs) {
      bool known = false;
      const kube::ObjectPtr found = lists_.Get(
          resource, {resource.namespaced ? key.ns : "", key.name}, Weight::kHelps, &known);
      if (known) existence_[name] = found != nullptr;
    }
    return;
  }
  kube::ListOptions options;
  options.fields = {"metadata.name"};  // Values of Secrets are not kept.
  std::set<kube::ObjectKey> there;
  const bool all = lists_.Pages(resource, resource.namespaced ? scope_.ns : "", Weight::kHelps,
                                options, [&](const kube::ListPage& page, bool) {
                                  for (const kube::Object& o : page.items) there.insert(o.key());
                                });
  for (const auto& [name, key] : needs) {
    const bool exists = there.count({resource.namespaced ? key.ns : "", key.name}) > 0;
    if (all || exists) existence_[name] = exists;
  }
}

}  // namespace lens::fleet
