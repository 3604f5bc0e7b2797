#include "lens/fleet/report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"
#include "lens/why/diagnosis.h"

namespace lens::fleet {
namespace {

// Later times first; equal ones by name, so that each reading has the same order.
bool GoesBefore(const Trouble* a, const Trouble* b) {
  if (a->since != b->since) return a->since > b->since;
  return std::pair(a->gvk, a->key) < std::pair(b->gvk, b->key);
}

std::string CommonAdvice(const std::vector<const Trouble*>& troubles) {
  std::set<std::string> advices;
  for (const Trouble* trouble : troubles) advices.insert(trouble->cause.advice);
  return advices.size() == 1 ? *advices.begin() : "";
}

json::Value TimeAsJson(absl::Time time) {
  return time == absl::InfinitePast() ? json::Value() : json::Value(kube::FormatTime(time));
}

json::Value TroubleAsJson(const Trouble& trouble) {
  return json::Value::Object({{"apiVersion", trouble.gvk.ApiVersion()},
                              {"kind", trouble.gvk.kind},
                              {"namespace", trouble.key.ns},
                              {"name", trouble.key.name},
                              {"policy", trouble.policy},
                              {"cluster", trouble.cause.cluster},
                              {"check", trouble.cause.check},
                              {"step", why::StepName(trouble.cause.step)},
                              {"grade", why::GradeName(trouble.cause.grade)},
                              {"since", TimeAsJson(trouble.since)},
                              {"headline", why::AsSentence(trouble.headline)},
                              {"advice", why::AsSentence(trouble.cause.advice)}});
}

json::Value GroupAsJson(const Group& group) {
  std::vector<json::Value> troubles;
  for (const Trouble* trouble : group.troubles) troubles.push_back(TroubleAsJson(*trouble));
  return json::Value::Object({{"cause", group.brief},
                              {"count", static_cast<int64_t>(group.troubles.size())},
                              {"since", TimeAsJson(group.since)},
                              {"advice", why::AsSentence(group.advice)},
                              {"templates", json::Value::OfItems(std::move(troubles))}});
}

json::Value Sentences(const std::vector<std::string>& texts) {
  std::vector<json::Value> items;
  for (const std::string& text : texts) items.emplace_back(why::AsSentence(text));
  return json::Value::OfItems(std::move(items));
}

}  // namespace

std::vector<Group> GroupsOf(const Fleet& fleet) {
  std::map<std::string, Group> by_brief;
  for (const Trouble& trouble : fleet.troubles) {
    by_brief[trouble.brief].troubles.push_back(&trouble);
    for (const Trouble& other : trouble.elsewhere) {
      by_brief[other.brief].troubles.push_back(&other);
    }
  }
  std::vector<Group> groups;
  for (auto& [brief, group] : by_brief) {
    group.brief = brief;
    group.has_details = absl::EndsWith(brief, ":");
    if (group.has_details) group.brief.pop_back();
    std::sort(group.troubles.begin(), group.troubles.end(), GoesBefore);
    group.since = group.troubles[0]->since;
    group.advice = CommonAdvice(group.troubles);
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.since > b.since; });
  return groups;
}

std::string HeadlineOf(const Fleet& fleet) {
  const std::string of = fleet.scope.Describe();
  const size_t bad = fleet.troubles.size();
  if (fleet.templates == 0) {
    return absl::StrCat(fleet.is_whole ? "there is no template" : "no template could be read", of);
  }
  if (bad > 0) {
    return absl::StrCat(bad, " of ", fleet.templates,
                        fleet.templates == 1 ? " template" : " templates", of,
                        bad == 1 ? " is not fine" : " are not fine");
  }
  if (!fleet.is_whole)
    return absl::StrCat("nothing that could be read is wrong with templates", of);
  constexpr char kAsFarAs[] = " fine by what the control plane knows; members were not asked";
  if (fleet.templates == 1) return absl::StrCat("the one template", of, " is", kAsFarAs);
  return absl::StrCat("all ", fleet.templates, " templates", of, " are", kAsFarAs);
}

json::Value JsonOf(const Fleet& fleet) {
  std::vector<json::Value> groups;
  for (const Group& group : GroupsOf(fleet)) groups.push_back(GroupAsJson(group));
  return json::Value::Object({{"headline", why::AsSentence(HeadlineOf(fleet))},
                              {"fine", fleet.IsFine()},
                              {"templates", static_cast<int64_t>(fleet.templates)},
                              {"notFine", static_cast<int64_t>(fleet.troubles.size())},
                              {"groups", json::Value::OfItems(std::move(groups))},
                              {"stopped", Sentences(fleet.stopped)},
                              {"unknown", Sentences(fleet.unknown)},
                              {"unread", Sentences(fleet.unread)}});
}

}  // namespace lens::fleet
