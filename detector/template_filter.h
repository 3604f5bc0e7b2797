// Decides which resources and objects the detector looks at.
#ifndef DETECTOR_TEMPLATE_FILTER_H_
#define DETECTOR_TEMPLATE_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "config/skipped_apis.h"
#include "config/skipped_namespaces.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace detector {

class TemplateFilter {
 public:
  // What the flags skip is added to Karmada's own groups, events and leases. kInvalidArgument names
  // the flag and what is wrong with it.
  static absl::StatusOr<TemplateFilter> Create(absl::string_view skipped_apis,
                                               const std::vector<std::string>& skipped_namespaces);

  // Returns whether objects of this resource can be templates.
  bool AllowsResource(const kube::Gvk& gvk) const;
  // Returns whether this object can be a template, judged by its namespace (upstream's
  // EventFilter).
  bool AllowsObject(const kube::Object& object) const;
  // Returns whether objects of this namespace can be templates.
  bool AllowsNamespace(absl::string_view ns) const;

 private:
  config::SkippedApis skipped_apis_;
  config::SkippedNamespaces skipped_namespaces_;
};

// Returns whether objects of the kind cannot be templates in any configuration: those of Karmada's
// own groups, events and leases.
bool IsNeverPropagated(const kube::Gvk& gvk);

// Returns whether everything that differs was written by Karmada: status, generation, and labels
// and annotations of its domain.
bool ChangedByKarmada(const kube::Object& before, const kube::Object& after);

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_FILTER_H_
