#include "api/policy_selectors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/policy.h"

namespace api {

PolicySelectors::PolicySelectors(const kube::Object& policy)
    : policy_ns_(policy.ns()), selectors_(PolicyView(policy).ResourceSelectors()) {
  for (size_t i = 0; i < selectors_.size(); ++i) {
    const ResourceSelector& s = selectors_[i];
    places_[PlaceOf(s.api_version(), s.kind(), s.name())].push_back(i);
    kinds_.insert(PlaceOf(s.api_version(), s.kind(), ""));
  }
}

std::string PolicySelectors::PlaceOf(absl::string_view api_version, absl::string_view kind,
                                     absl::string_view name) {
  return absl::StrCat(api_version, ":", kind, ":", name);
}

template <class Visit>
bool PolicySelectors::AnyFor(const Named& object, Visit visit) const {
  // Comparing so few takes less time than looking up where they are filed.
  constexpr size_t kFew = 8;
  if (selectors_.size() <= kFew) return std::any_of(selectors_.begin(), selectors_.end(), visit);
  for (const absl::string_view name : {object.name, absl::string_view()}) {
    const auto place = places_.find(PlaceOf(object.api_version, object.kind, name));
    if (place == places_.end()) continue;
    for (const size_t i : place->second) {
      if (visit(selectors_[i])) return true;
    }
  }
  return false;
}

SelectorMatch PolicySelectors::Match(const kube::Object& object) const {
  SelectorMatch best = SelectorMatch::kNone;
  AnyFor({object.api_version(), object.kind(), object.name()},
         [&](const ResourceSelector& selector) {
           best = std::max(best, selector.Rank(object));
           return best == SelectorMatch::kName;
         });
  return best;
}

bool PolicySelectors::MaySelect(const ObjectReference& object) const {
  return AnyFor({object.api_version, object.kind, object.name}, [&](const ResourceSelector& s) {
    return s.api_version() == object.api_version && s.kind() == object.kind &&
           (s.ns().empty() || s.ns() == object.ns) && (s.name().empty() || s.name() == object.name);
  });
}

bool PolicySelectors::Name(const kube::Object& object) const {
  const auto place = places_.find(PlaceOf(object.api_version(), object.kind(), object.name()));
  if (place == places_.end()) return false;
  return std::any_of(place->second.begin(), place->second.end(), [&](size_t i) {
    const ResourceSelector& selector = selectors_[i];
    const absl::string_view ns = selector.ns().empty() ? policy_ns_ : selector.ns();
    return ns == object.ns() && selector.Rank(object) == SelectorMatch::kName;
  });
}

bool PolicySelectors::Contain(const kube::Gvk& gvk) const {
  return kinds_.contains(PlaceOf(gvk.ApiVersion(), gvk.kind, ""));
}

}  // namespace api
