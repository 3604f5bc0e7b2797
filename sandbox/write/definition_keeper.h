// Keeps the served kinds in line with the stored CustomResourceDefinitions, and empties the table
// of a definition that is being deleted before it is removed.
#ifndef SANDBOX_WRITE_DEFINITION_KEEPER_H_
#define SANDBOX_WRITE_DEFINITION_KEEPER_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/kinds/registry.h"
#include "sandbox/storage/store.h"
#include "sandbox/write/write_path.h"

namespace sandbox {

class DefinitionKeeper {
 public:
  DefinitionKeeper(Store& store, Registry& registry, WritePath& writes)
      : store_(store), registry_(registry), writes_(writes) {}

  // Call it after every committed change.
  void OnCommit(const GroupName& table, const kube::ObjectKey& key);

 private:
  void Sync(const std::string& definition);
  void DeleteInstances(const GroupName& table);
  // Drops the finalizer of a terminating definition once nothing is left.
  void FinishIfEmpty(const GroupName& table);

  Store& store_;
  Registry& registry_;
  WritePath& writes_;
  absl::Mutex sync_mu_;  // Held while the registry is updated for one definition.
  absl::Mutex mu_;
  std::map<GroupName, std::string> terminating_ ABSL_GUARDED_BY(mu_);  // Definitions by table.
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_DEFINITION_KEEPER_H_
