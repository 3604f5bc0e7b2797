#include "controllers/agent/execution_namespace_watch.h"

#include "api/names.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/log.h"
#include "kube/client/errors.h"

namespace controllers {
namespace {

// The controller manager makes it a moment after the cluster has registered, and it is there as
// long as the cluster.
constexpr absl::Duration kWhileMissing = absl::Seconds(1);
constexpr absl::Duration kWhileThere = absl::Minutes(5);

}  // namespace

ExecutionNamespaceWatch::ExecutionNamespaceWatch(const std::string& cluster, kube::Manager& manager)
    : Periodic(manager.clock()),
      ns_(api::ExecutionNamespace(cluster)),
      manager_(manager),
      namespaces_(manager.cluster().informers().Get(api::Namespaces())) {}

absl::Duration ExecutionNamespaceWatch::Tick(const base::StopToken& stop) {
  return Look(stop) ? kWhileThere : kWhileMissing;
}

bool ExecutionNamespaceWatch::Look(const base::StopToken& stop) {
  const kube::ObjectKey key{"", ns_};
  const absl::StatusOr<kube::Object> found =
      manager_.cluster().raw().Get(api::Namespaces(), key, stop);
  const kube::ObjectPtr known = namespaces_->store().Find(key);
  if (found.ok()) {
    if (known == nullptr || known->uid() != found->uid()) namespaces_->Written(*found);
    return true;
  }
  // While the server cannot be asked, it is taken to be as it was.
  if (!kube::IsGone(found.status())) return known != nullptr;
  if (known != nullptr) namespaces_->WrittenDeleteOf(key, known->uid());
  return false;
}

}  // namespace controllers
