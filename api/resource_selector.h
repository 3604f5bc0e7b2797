// Resource selectors: which templates a policy or an override selects, and how specifically.
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

// How a selector matches an object; a higher rank is more specific (upstream's ImplicitPriority).
enum class SelectorMatch { kNone = 0, kAll = 1, kLabels = 2, kName = 3 };

// A parsed policy/v1alpha1 ResourceSelector.
class ResourceSelector {
 public:
  static ResourceSelector FromJson(const json::Value& selector);
  // Parses the items of a `resourceSelectors` list.
  static std::vector<ResourceSelector> ListFromJson(const json::Value& list);

  // The apiVersion and kind must be equal, and the namespace unless the selector has none. If the
  // selector has a name, only the name is compared, otherwise the label selector. A malformed label
  // selector matches nothing.
  SelectorMatch Rank(const kube::Object& object) const;
  // Returns the rank that the object would have if its apiVersion were the selector's.
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

// Returns the best rank among the selectors, which is the policy's implicit priority for this
// object.
SelectorMatch BestMatch(absl::Span<const ResourceSelector> selectors, const kube::Object& object);

}  // namespace api

#endif  // API_RESOURCE_SELECTOR_H_
