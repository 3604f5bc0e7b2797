#include "tests/behaviour/comparable_planes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/names.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "kube/meta/object.h"
#include "kube/meta/patch.h"

namespace tests {
namespace {

// Returns whether the object is a Work whose manifest was created more than once in its member.
// What has gone there and has come again may be reported as such; of everything else that would be
// wrong.
bool WasCreatedAgain(const kube::Object& object, const CreatedAgain& created_again) {
  if (object.gvk() != api::Works().gvk) return false;
  const auto member = api::ClusterOfExecutionNamespace(object.ns());
  REQUIRE(member.ok());
  const auto names = created_again.find(*member);
  const kube::Object manifest(object.Get({"spec", "workload", "manifests"}).At(0));
  return names != created_again.end() && names->second.count(manifest.Describe()) > 0;
}

// Returns a copy without what differs between two planes that hold the same.
json::Value Comparable(const json::Value& value, bool was_created_again) {
  static const auto* const kOwn = new std::set<std::string>{"uid",
                                                            "resourceVersion",
                                                            "generation",
                                                            "managedFields",
                                                            "startTime",
                                                            "creationTimestamp",
                                                            "lastTransitionTime",
                                                            "lastUpdateTime",
                                                            "observedTime",
                                                            "observedGeneration",
                                                            "resourceTemplateGeneration",
                                                            "schedulerObservedGeneration",
                                                            "lastScheduledTime"};
  if (value.is_array()) {
    // Conditions of several writers are in the order in which those came.
    std::vector<json::Value> items;
    for (const json::Value& item : value.items()) {
      items.push_back(Comparable(item, was_created_again));
    }
    std::stable_sort(items.begin(), items.end(), [](const json::Value& a, const json::Value& b) {
      return a["type"].AsString() < b["type"].AsString();
    });
    json::Value sorted = json::Value::Array();
    for (json::Value& item : items) sorted.Append(std::move(item));
    return sorted;
  }
  if (was_created_again && value == json::Value(api::reason::kReCreateSuccessful)) {
    return api::reason::kAppliedSuccessful;
  }
  if (!value.is_object()) return value;
  json::Value copy = json::Value::Object();
  for (const json::Member& member : value.members()) {
    const std::string name(member.name());
    const bool own = kOwn->count(name) > 0 || absl::EndsWith(name, "permanent-id") ||
                     absl::StrContains(name, "/depended-by-") ||
                     absl::EndsWith(name, "/passed-template") ||
                     absl::StrContains(name, "resourcetemplate.karmada.io/uid") ||
                     absl::StrContains(name, "resourcetemplate.karmada.io/generation") ||
                     absl::StrContains(name, "deployment.kubernetes.io/revision");
    copy.Set(name, own ? json::Value("*") : Comparable(member.value, was_created_again));
  }
  return copy;
}

}  // namespace

Contents Comparable(const Snapshot& snapshot, const CreatedAgain& created_again) {
  Contents contents;
  for (const auto& [name, object] : snapshot) {
    if (absl::StrContains(name, "kube-root-ca.crt")) continue;
    contents[name] = Comparable(object.root(), WasCreatedAgain(object, created_again));
  }
  return contents;
}

std::string Differences(const Contents& here, const Contents& quiet) {
  std::vector<std::string> lines;
  for (const auto& [name, content] : here) {
    const auto other = quiet.find(name);
    if (other == quiet.end()) {
      lines.push_back(absl::StrCat("left over: ", name, " ", json::Write(content)));
    } else if (other->second != content) {
      lines.push_back(absl::StrCat(
          name, "\n  after chaos ", json::Write(kube::DiffMergePatch(other->second, content)),
          "\n  quiet ", json::Write(kube::DiffMergePatch(content, other->second))));
    }
  }
  for (const auto& [name, content] : quiet) {
    if (here.count(name) == 0) lines.push_back("missing: " + name);
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace tests
