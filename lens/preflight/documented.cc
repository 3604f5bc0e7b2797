#include "lens/preflight/documented.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace lens::preflight {
namespace {

struct Section {
  absl::string_view group;     // The first part of the API group's name.
  absl::string_view resource;  // A part of the resource's name; "" for all of the group.
  absl::string_view anchor;
};
// The first one that fits counts.
constexpr Section kSections[] = {
    {"policy", "overridepolicies", "overrides"},
    {"policy", "clustertaintpolicies", "clusters-and-evictions"},
    {"policy", "", "policies-and-templates"},
    {"apps", "", "policies-and-templates"},
    {"autoscaling", "", "policies-and-templates"},
    {"remedy", "", "policies-and-templates"},
    {"cluster", "", "clusters-and-evictions"},
    {"config", "", "interpreter"},
    {"networking", "", "services-across-clusters"},
    {"multicluster", "", "services-across-clusters"},
    {"work", "", "works-and-members"},
};

}  // namespace

std::string DifferencesOf(const config::KindSupport& kind) {
  if (kind.state == config::State::kOutside) return "";
  const absl::string_view group = kind.group.substr(0, kind.group.find('.'));
  for (const Section& section : kSections) {
    if (section.group != group || !absl::StrContains(kind.resource, section.resource)) continue;
    return absl::StrCat("docs/differences.md#", section.anchor);
  }
  return "";
}

}  // namespace lens::preflight
