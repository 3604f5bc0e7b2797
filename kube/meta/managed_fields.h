// Who owns the fields of an object, as API servers record it for server-side apply
// (metadata.managedFields).
#ifndef KUBE_META_MANAGED_FIELDS_H_
#define KUBE_META_MANAGED_FIELDS_H_

#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "base/json.h"

namespace kube {

// Returns when a manager that owns the field, or a part of it, last changed something in the
// object; nullopt if nobody is known to own it. The field was not changed after that: whoever
// changes it owns it, and servers note the time. (It may have been changed before, if the same
// manager has changed something else since.)
std::optional<absl::Time> LastChangeByOwners(const json::Value& managed_fields, json::Path field);

// Returns when a manager that owns nothing of the field last changed something in the object but
// its status; nullopt if there is none.
std::optional<absl::Time> LastChangeByOthers(const json::Value& managed_fields, json::Path field);

// Returns `managed_fields` so that `to` has applied what the managers `from` own by updates: their
// entries become part of its own one. What they own of subresources stays theirs. Returns nullopt
// when they own nothing.
//
// Entries of several versions of the API cannot be united: that which `to` has applied, or the
// latest one of `from`, determines the version, and those of other versions go (as with client-go's
// csaupgrade). Finalizers and owners, which an apply of a manifest does not have, are nobody's
// then.
//
// From then on a field that `to` does not apply any more is removed. While the entries of updates
// are there, it would stay.
std::optional<json::Value> HandOverFields(const json::Value& managed_fields,
                                          const std::set<std::string>& from, const std::string& to);

}  // namespace kube

#endif  // KUBE_META_MANAGED_FIELDS_H_
