#include "detector/policy_selectors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/policy.h"

namespace detector {

PolicySelectors::PolicySelectors(const kube::Object& policy)
    : policy_ns_(policy.ns()), selectors_(api::PolicyView(policy).ResourceSelectors()) {
  for (size_t i = 0; i < selectors_.size(); ++i) {
    const api::ResourceSelector& s = selectors_[i];
    places_[PlaceOf(s.api_version(), s.kind(), s.name())].push_back(i);
    kinds_.insert(PlaceOf(s.api_version(), s.kind(), ""));
  }
}

std::string PolicySelectors::PlaceOf(absl::string_view api_version, absl::string_view kind,
                                     absl::string_view name) {
  return absl::StrCat(api_version, ":", kind, ":", name);
}

api::SelectorMatch PolicySelectors::Match(const kube::Object& object) const {
  api::SelectorMatch best = api::SelectorMatch::kNone;
  for (const absl::string_view name : {object.name(), absl::string_view()}) {
    const auto place = places_.find(PlaceOf(object.api_version(), object.kind(), name));
    if (place == places_.end()) continue;
    for (const size_t i : place->second) best = std::max(best, selectors_[i].Rank(object));
  }
  return best;
}

bool PolicySelectors::Name(const kube::Object& object) const {
  const auto place = places_.find(PlaceOf(object.api_version(), object.kind(), object.name()));
  if (place == places_.end()) return false;
  return std::any_of(place->second.begin(), place->second.end(), [&](size_t i) {
    const api::ResourceSelector& selector = selectors_[i];
    const absl::string_view ns = selector.ns().empty() ? policy_ns_ : selector.ns();
    return ns == object.ns() && selector.Rank(object) == api::SelectorMatch::kName;
  });
}

bool PolicySelectors::Contain(const kube::Gvk& gvk) const {
  return kinds_.contains(PlaceOf(gvk.ApiVersion(), gvk.kind, ""));
}

}  // namespace detector
