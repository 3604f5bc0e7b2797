#include "detector/template_filter.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/keys.h"
#include "api/names.h"
#include "base/status.h"

namespace detector {
namespace {

// Groups whose objects are Karmada's own, never templates.
constexpr absl::string_view kOwnGroups[] = {
    "cluster", "policy", "work", "config", "networking", "autoscaling", "remedy", "apps",
};

absl::Status BadToken(absl::string_view token) {
  return absl::InvalidArgumentError(
      absl::StrCat("--skipped-propagating-apis: \"", token,
                   "\" is neither group, group/version nor group/version/Kind,Kind"));
}

// The object without what SpecificationChanged ignores.
json::Value Specification(const kube::Object& o) {
  json::Value v = o.root();
  v.Erase("status");
  v.Erase({"metadata", "managedFields"});
  v.Erase({"metadata", "resourceVersion"});
  return v;
}

// Returns whether only the status of a kind without status subresource was written. The server
// raises the generation for that, as it does for a change of the specification.
bool OnlyStatusWritten(const kube::Object& before, const kube::Object& after) {
  if (after.generation() != before.generation() + 1 || before.status() == after.status()) {
    return false;
  }
  json::Value same = Specification(after);
  same.Set({"metadata", "generation"}, before.generation());
  return same == Specification(before);
}

void EraseOwnKeys(json::Value& object, absl::string_view map) {
  std::vector<std::string> own;
  for (const json::Member& m : object.Get({"metadata", map}).members()) {
    if (absl::StrContains(m.name(), ".karmada.io") && m.name() != api::kSkipAutoPropagationLabel) {
      own.emplace_back(m.name());
    }
  }
  for (const std::string& key : own) object.Erase({"metadata", map, key});
  if (object.Get({"metadata", map}).empty()) object.Erase({"metadata", map});
}

json::Value UserSpecification(const kube::Object& o) {
  json::Value v = Specification(o);
  v.Erase({"metadata", "generation"});
  EraseOwnKeys(v, "labels");
  EraseOwnKeys(v, "annotations");
  return v;
}

}  // namespace

absl::StatusOr<TemplateFilter> TemplateFilter::Create(
    absl::string_view skipped_apis, const std::vector<std::string>& skipped_namespaces) {
  TemplateFilter filter;
  for (const absl::string_view group : kOwnGroups) {
    filter.groups_.insert(absl::StrCat(group, api::kGroupSuffix));
  }
  filter.groups_.insert("events.k8s.io");
  filter.group_versions_.insert("coordination.k8s.io/v1");
  filter.kinds_.insert({"", "v1", "Event"});
  for (const absl::string_view token : absl::StrSplit(skipped_apis, ';', absl::SkipWhitespace())) {
    const std::vector<std::string> parts = absl::StrSplit(token, '/');
    const bool core = parts.size() == 2 && parts[0] == "v1";
    if (parts.size() == 1) {
      filter.groups_.insert(parts[0]);
    } else if (parts.size() == 2 && !core) {
      filter.group_versions_.insert(std::string(token));
    } else if (core || parts.size() == 3) {
      const std::string group = core ? "" : parts[0];
      const std::string version = core ? "v1" : parts[1];
      for (const absl::string_view kind : absl::StrSplit(parts.back(), ',')) {
        filter.kinds_.insert({group, version, std::string(kind)});
      }
    } else {
      return BadToken(token);
    }
  }
  ASSIGN_OR_RETURN(filter.skipped_namespaces_,
                   loops::SkippedNamespaces::Create(skipped_namespaces));
  return filter;
}

bool TemplateFilter::AllowsResource(const kube::Gvk& gvk) const {
  return groups_.count(gvk.group) == 0 && group_versions_.count(gvk.ApiVersion()) == 0 &&
         kinds_.count(gvk) == 0;
}

bool TemplateFilter::AllowsObject(const kube::Object& object) const {
  const absl::string_view ns = object.ns();
  if (ns.empty()) return true;
  if (api::IsReservedNamespace(ns) || skipped_namespaces_.Contains(ns)) return false;
  return !(ns == "kube-system" && object.kind() == "ConfigMap" &&
           object.name() == "extension-apiserver-authentication");
}

bool SpecificationChanged(const kube::Object& before, const kube::Object& after) {
  return Specification(before) != Specification(after) && !OnlyStatusWritten(before, after);
}

bool ChangedByKarmada(const kube::Object& before, const kube::Object& after) {
  return UserSpecification(before) == UserSpecification(after);
}

}  // namespace detector
