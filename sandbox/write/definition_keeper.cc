// Every commit of a definition has Sync bring the registry to the definition as it is then stored.
// sync_mu_ makes one of these follow the other, so that the registry does not end with an older
// state. A definition that is being deleted enters terminating_ and has all its instances deleted.
// From then on each commit in its table looks whether the table is empty; when it is, the
// definition loses its finalizer, and with that commit its kinds are not served any more. Both
// calls of the write path are made without a lock, since their commits lead back here.

#include "sandbox/write/definition_keeper.h"

#include <utility>

#include "base/status.h"
#include "sandbox/kinds/custom_definitions.h"

namespace sandbox {

void DefinitionKeeper::OnCommit(const GroupName& table, const kube::ObjectKey& key) {
  if (table == DefinitionTable()) {
    Sync(key.name);
    return;
  }
  FinishIfEmpty(table);
}

void DefinitionKeeper::Sync(const std::string& definition) {
  GroupName emptied;
  {
    absl::MutexLock sync(&sync_mu_);
    const kube::ObjectPtr object = store_.Get(DefinitionTable(), {"", definition});
    registry_.SetCustom(definition,
                        object == nullptr ? std::vector<ResourceInfo>{} : ServedBy(*object));
    absl::MutexLock lock(&mu_);
    // One that was created again at once is not being deleted any more, either.
    if (object == nullptr || !object->IsDeleting()) {
      for (auto it = terminating_.begin(); it != terminating_.end();) {
        it = it->second == definition ? terminating_.erase(it) : std::next(it);
      }
      return;
    }
    emptied = {object->spec()["group"].ToString(), object->spec()["names"]["plural"].ToString()};
    if (!terminating_.emplace(emptied, definition).second) return;
  }
  DeleteInstances(emptied);
  FinishIfEmpty(emptied);
}

void DefinitionKeeper::DeleteInstances(const GroupName& table) {
  const ResourceInfoPtr info = registry_.FindAny(table);
  if (info == nullptr) return;
  for (const kube::ObjectPtr& object : store_.List(table, "").objects) {
    base::IgnoreError(writes_.Delete(*info, object->key(), {}, {}).status(),
                      "an instance that is gone already is what we want");
  }
}

void DefinitionKeeper::FinishIfEmpty(const GroupName& table) {
  std::string definition;
  {
    absl::MutexLock lock(&mu_);
    const auto found = terminating_.find(table);
    if (found == terminating_.end()) return;
    definition = found->second;
  }
  if (!store_.Empty(table)) return;
  const ResourceInfoPtr info = registry_.FindAny(DefinitionTable());
  const auto drop_finalizer = [](const kube::Object& current) -> absl::StatusOr<kube::Object> {
    kube::Object next = current;
    next.RemoveFinalizer(kCleanupFinalizer);
    return next;
  };
  base::IgnoreError(writes_.Update(*info, {{"", definition}, ""}, drop_finalizer, {}).status(),
                    "another writer has finished the definition");
}

}  // namespace sandbox
