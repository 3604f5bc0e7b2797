// The dependencies of a template as bindings record them: annotation
// resourcebinding.karmada.io/dependencies holds the list as upstream's Go writes it.
#ifndef API_DEPENDENCIES_H_
#define API_DEPENDENCIES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// config/v1alpha1 DependentObjectReference: an object by name, or objects by label selector.
struct DependentReference {
  std::string api_version, kind, ns, name;
  json::Value label_selector;  // metav1.LabelSelector; null when there is none.

  static DependentReference FromJson(const json::Value& reference);
  // Returns compact JSON in the order of the Go struct's fields, without empty members.
  std::string ToText() const;
  // The parts are empty when apiVersion is malformed.
  kube::Gvk gvk() const;
  // Returns "ConfigMap default/settings", or "EndpointSlice in default selected by a=b".
  std::string Describe() const;
  // Returns whether the reference names the object or, having no name, selects it by its labels. A
  // selector that is not valid selects nothing.
  bool Matches(const kube::Object& object) const;
  // Returns whether the selector of a reference without a name selects these metadata.labels.
  bool Selects(const json::Value& labels) const;
  friend bool operator==(const DependentReference&, const DependentReference&) = default;
};

// Null gives an empty list.
std::vector<DependentReference> DependenciesFromJson(const json::Value& list);

// Returns what the annotation of a binding records; nothing when it has none, or one that is not a
// list.
std::vector<DependentReference> RecordedDependencies(const kube::Object& binding);

// Returns the annotation's text for a result of the interpreter: an array of references, or null,
// which is written as "null" (upstream marshals a nil slice).
std::string DependenciesText(const json::Value& list);
// Returns whether an annotation's text names the same references as `list`, in any order; null and
// an empty list are the same. A text that is not JSON names nothing.
bool NamesSameDependencies(absl::string_view text, const json::Value& list);

// Formats the list as Go's %+v does, for event messages.
std::string PrintedDependencies(const json::Value& list);

}  // namespace api

#endif  // API_DEPENDENCIES_H_
