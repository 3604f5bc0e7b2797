#include "controllers/context/synced_namespaces.h"

#include <memory>
#include <utility>

#include "api/namespace_sync.h"
#include "base/status.h"
#include "config/skipped_namespaces.h"

namespace controllers {

absl::StatusOr<IsSynced> SyncedNamespaces(const std::vector<std::string>& skipped) {
  ASSIGN_OR_RETURN(config::SkippedNamespaces names, config::SkippedNamespaces::Create(skipped));
  return [names = std::make_shared<const config::SkippedNamespaces>(std::move(names))](
             const kube::Object& ns) {
    return !api::IsKeptFromSync(ns) && !names->Contains(ns.name());
  };
}

}  // namespace controllers
