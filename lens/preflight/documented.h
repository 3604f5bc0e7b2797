// Where the documentation lists what is different on purpose.
#ifndef LENS_PREFLIGHT_DOCUMENTED_H_
#define LENS_PREFLIGHT_DOCUMENTED_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "config/support.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace lens::preflight {

// Returns the page and section about objects of the kind, "docs/differences.md#overrides"; "" for a
// kind that upstream's controller manager does not read either. A test compares the sections with
// the page.
std::string DifferencesOf(const config::KindSupport& kind);

// Something that who operates a control plane sees of objects of a kind as they are usually used:
// another result, and not another moment, event or answer to a mistake.
struct VisibleDifference {
  absl::string_view resource;  // With its group if it is not a kind of Karmada's: "plural.group".
  absl::string_view effect;    // What holds here: a clause without a full stop.
  absl::string_view row;       // The beginning of the row of docs/differences.md about it.
  absl::string_view anchor;    // The section of that row, for a kind that is not Karmada's.
  // Returns whether it concerns an object, of which the fields kFieldsOfConcern are there; nullptr
  // where an object does not tell.
  bool (*concerns)(const kube::Object&) = nullptr;
};
inline constexpr const char* kFieldsOfConcern[] = {
    "metadata.generation", "status.observedGeneration", "status.replicas", "status.conditions"};

// Returns all of them, one for each resource at most. A test compares the rows with the page.
absl::Span<const VisibleDifference> VisibleDifferences();
// Returns the one of the kind; nullptr for none.
const VisibleDifference* VisibleDifferenceOf(const config::KindSupport& kind);
// Returns the one of a kind of templates, for which this program ships a rule.
const VisibleDifference* VisibleDifferenceOf(const kube::Resource& templates);

// What differs for some bindings. A test compares the rows with the page.
struct BindingDifference {
  absl::string_view effect;  // As above.
  absl::string_view row;     // The beginning of the row of docs/differences.md about it.
  absl::string_view anchor;  // The section of that row.
};
inline constexpr BindingDifference kRefusedBindings = {
    "they name an object that is not of their own namespace: nothing is done for them, with the "
    "event BindingRefused, and what they have in members stays as it is",
    "a ResourceBinding whose `spec.resource` is in another namespace", "dependencies"};
inline constexpr BindingDifference kReleasedTemplates = {
    "no policy governs their templates any more: clusters keep what they have, and edits of the "
    "templates do not reach them, also those that upstream has not brought there yet",
    "a template that its policy releases, because the policy was deleted",
    "policies-and-templates"};

// What differs for policies whose purge mode has an older name.
inline constexpr BindingDifference kOldPurgeModes = {
    "evictions by them work here with the present names, on servers of Karmada v1.19, too",
    "`purgeMode` `Immediately` or `Graciously` in a policy", "clusters-and-evictions"};

}  // namespace lens::preflight

#endif  // LENS_PREFLIGHT_DOCUMENTED_H_
