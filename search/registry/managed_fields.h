// metadata.managedFields of ResourceRegistries, and server-side apply, by the rules that every API
// server has (kube/server/fields). All lists of a registry are atomic.
#ifndef SEARCH_REGISTRY_MANAGED_FIELDS_H_
#define SEARCH_REGISTRY_MANAGED_FIELDS_H_

#include "absl/status/statusor.h"
#include "kube/meta/object.h"
#include "kube/server/fields/field_owners.h"

namespace search {

// Sets metadata.managedFields of `after`, which `writer` has made out of `before` by a create (then
// `before` is empty), an update or a patch. What `after` has there is what the client wants.
void RecordUpdate(const kube::Object& before, const kube::server::FieldWriter& writer,
                  kube::Object& after);

// Returns `live` (empty: it does not exist yet) with the configuration applied. Errors are those of
// kube::server::FieldOwners::AfterApply.
absl::StatusOr<kube::Object> Applied(const kube::Object& live, const kube::Object& config,
                                     const kube::server::FieldWriter& writer, bool force);

}  // namespace search

#endif  // SEARCH_REGISTRY_MANAGED_FIELDS_H_
