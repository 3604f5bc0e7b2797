#include "api/resource_selector.h"

#include <algorithm>

namespace api {

ResourceSelector ResourceSelector::FromJson(const json::Value& selector) {
  ResourceSelector out;
  out.api_version_ = selector["apiVersion"].ToString();
  out.kind_ = selector["kind"].ToString();
  out.ns_ = selector["namespace"].ToString();
  out.name_ = selector["name"].ToString();
  const json::Value& labels = selector["labelSelector"];
  out.has_labels_ = !labels.is_null();
  if (out.has_labels_) {
    out.labels_ = kube::LabelSelector::FromJson(labels).value_or(kube::LabelSelector::Nothing());
  }
  return out;
}

std::vector<ResourceSelector> ResourceSelector::ListFromJson(const json::Value& list) {
  std::vector<ResourceSelector> out;
  out.reserve(list.size());
  for (const json::Value& item : list.items()) out.push_back(FromJson(item));
  return out;
}

SelectorMatch ResourceSelector::Rank(const kube::Object& object) const {
  return object.api_version() == api_version_ ? RankInAnyVersion(object) : SelectorMatch::kNone;
}

SelectorMatch ResourceSelector::RankInAnyVersion(const kube::Object& object) const {
  if (object.kind() != kind_) return SelectorMatch::kNone;
  if (!ns_.empty() && object.ns() != ns_) return SelectorMatch::kNone;
  if (!name_.empty()) {
    return object.name() == name_ ? SelectorMatch::kName : SelectorMatch::kNone;
  }
  if (!has_labels_) return SelectorMatch::kAll;
  return labels_.Matches(object.labels()) ? SelectorMatch::kLabels : SelectorMatch::kNone;
}

SelectorMatch BestMatch(absl::Span<const ResourceSelector> selectors, const kube::Object& object) {
  SelectorMatch best = SelectorMatch::kNone;
  for (const ResourceSelector& selector : selectors) best = std::max(best, selector.Rank(object));
  return best;
}

}  // namespace api
