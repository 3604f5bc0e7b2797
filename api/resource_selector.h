// Resource selectors: which templates a policy or an override means, and how well they fit.
#ifndef API_RESOURCE_SELECTOR_H_
#define API_RESOURCE_SELECTOR_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace api {

// How a selector fits an object; a higher rank fits better (upstream's ImplicitPriority).
enum class SelectorMatch { kNone = 0, kAll = 1, kLabels = 2, kName = 3 };

// A parsed policy/v1alpha1 ResourceSelector.
class ResourceSelector {
 public:
  static ResourceSelector FromJson(const json::Value& selector);
  // The items of a `resourceSelectors` list.
  static std::vector<ResourceSelector> ListFromJson(const json::Value& list);

  // apiVersion and kind must be equal, the namespace too unless the selector has none. A name
  // decides alone; without one, the label selector does. A malformed label selector matches
  // nothing.
  SelectorMatch Rank(const kube::Object& object) const;
  // The rank that the object would have if it were of the selector's apiVersion.
  SelectorMatch RankInAnyVersion(const kube::Object& object) const;

  absl::string_view api_version() const { return api_version_; }
  absl::string_view kind() const { return kind_; }
  absl::string_view ns() const { return ns_; }      // "": any namespace.
  absl::string_view name() const { return name_; }  // "": any name.

 private:
  std::string api_version_, kind_, ns_, name_;
  bool has_labels_ = false;
  kube::LabelSelector labels_;
};

// The best rank among the selectors: a policy's implicit priority for this object.
SelectorMatch BestMatch(absl::Span<const ResourceSelector> selectors, const kube::Object& object);

}  // namespace api

#endif  // API_RESOURCE_SELECTOR_H_
