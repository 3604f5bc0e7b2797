#include "sandbox/sim/service_accounts.h"

#include <string>

#include "base/status.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {

ServiceAccounts::ServiceAccounts(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("serviceaccount", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key); }) {
  controller_.WatchKeys(kinds::Namespaces().gvr());
  controller_.Watch(kinds::ServiceAccounts().gvr(), [this](const Event& event) {
    if (event.type == Event::Type::kDeleted && event.object->name() == "default") {
      controller_.Enqueue({"", std::string(event.object->ns())});
    }
  });
}

absl::Status ServiceAccounts::Reconcile(const kube::ObjectKey& key) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr ns, FindObject(backend_, kinds::Namespaces().gvr(), key));
  if (ns == nullptr || ns->IsDeleting()) return absl::OkStatus();
  const kube::ObjectKey account{key.name, "default"};
  ASSIGN_OR_RETURN(const kube::ObjectPtr existing,
                   FindObject(backend_, kinds::ServiceAccounts().gvr(), account));
  if (existing != nullptr) return absl::OkStatus();
  return EnsureObject(backend_, kinds::ServiceAccounts().gvr(),
                      kube::Object::Make(kinds::ServiceAccounts().gvk, account));
}

}  // namespace sandbox
