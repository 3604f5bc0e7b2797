// Which resources and objects the detector looks at.
#ifndef DETECTOR_TEMPLATE_FILTER_H_
#define DETECTOR_TEMPLATE_FILTER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "loops/skipped_namespaces.h"

namespace detector {

class TemplateFilter {
 public:
  // `skipped_apis`: semicolon-separated group, group/version, or group/version/Kind[,Kind]
  // ("v1/Kind" in the core group), on top of Karmada's own groups, events and leases.
  // `skipped_namespaces`: Go's regular expressions, each put between ^ and $ as it is (so "a|b"
  // means "starts with a or ends with b", as upstream). kInvalidArgument names the bad token.
  static absl::StatusOr<TemplateFilter> Create(absl::string_view skipped_apis,
                                               const std::vector<std::string>& skipped_namespaces);

  // Returns whether objects of this resource can be templates.
  bool AllowsResource(const kube::Gvk& gvk) const;
  // Returns whether this object can be a template, judged by its namespace (upstream's
  // EventFilter).
  bool AllowsObject(const kube::Object& object) const;

 private:
  std::set<std::string> groups_;
  std::set<std::string> group_versions_;
  std::set<kube::Gvk> kinds_;
  loops::SkippedNamespaces skipped_namespaces_;
};

// Returns whether an update matters: something other than status, managedFields and
// resourceVersion differs. Where the generation moved by one along with the status, and nothing
// else changed, only the status was written: kinds without a status subresource do that. (An edit
// that was undone before it was seen moves it by two.)
bool SpecificationChanged(const kube::Object& before, const kube::Object& after);
// Returns whether all that differs was written by Karmada: generation, labels and annotations of
// its domain.
bool ChangedByKarmada(const kube::Object& before, const kube::Object& after);

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_FILTER_H_
