// Which Namespaces the namespace loop writes into every cluster, for that loop and for whoever has
// to know.
#ifndef CONTROLLERS_CONTEXT_SYNCED_NAMESPACES_H_
#define CONTROLLERS_CONTEXT_SYNCED_NAMESPACES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/meta/object.h"

namespace controllers {

using IsSynced = std::function<bool(const kube::Object& ns)>;

// Returns the rule: those that nothing keeps from it (api::IsKeptFromSync) and that the flag
// --skipped-propagating-namespaces, whose value `skipped` is, does not name. kInvalidArgument names
// the flag and what is wrong with it.
absl::StatusOr<IsSynced> SyncedNamespaces(const std::vector<std::string>& skipped);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_SYNCED_NAMESPACES_H_
