// metadata.managedFields: who has set which field. It makes server-side apply possible: an applier
// takes back what it does not apply any more, and does not take what another one has set.
//
// These are the rules of structured-merge-diff for types whose lists are atomic, as those of
// ResourceRegistry are: the unit of ownership is a scalar, a list, or an empty object.
#ifndef SEARCH_REGISTRY_MANAGED_FIELDS_H_
#define SEARCH_REGISTRY_MANAGED_FIELDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace search {

struct FieldWriter {
  std::string manager;      // The parameter fieldManager, or the name in the User-Agent.
  std::string subresource;  // "" or "status".
  absl::Time now;
};

// Sets metadata.managedFields of `after`, which `writer` has made out of `before` by a create (then
// `before` is empty), an update or a patch.
void RecordUpdate(const kube::Object& before, const FieldWriter& writer, kube::Object& after);

// Returns `live` (empty: it does not exist yet) with the configuration applied. 409 with one cause
// for each field that another manager has set to another value, unless `force` is set.
absl::StatusOr<kube::Object> Applied(const kube::Object& live, const kube::Object& config,
                                     const FieldWriter& writer, bool force);

// Returns the manager of a request without the parameter fieldManager: the User-Agent up to the
// first '/'.
std::string ManagerOf(absl::string_view user_agent);

}  // namespace search

#endif  // SEARCH_REGISTRY_MANAGED_FIELDS_H_
