#include "works/template_read.h"

#include <memory>
#include <utility>

#include "base/status.h"
#include "kube/client/errors.h"

namespace works {

absl::StatusOr<kube::ObjectPtr> ReadTemplate(kube::ClusterClient& control_plane,
                                             const kube::Resource& resource,
                                             const kube::ObjectKey& key,
                                             const base::StopToken& stop) {
  absl::StatusOr<kube::ObjectPtr> cached = control_plane.Get(resource, key, stop);
  if (!kube::IsGone(cached.status())) return cached;
  // Without a cache the server has been asked already.
  const std::shared_ptr<kube::Informer> informer = control_plane.informers().Find(resource);
  if (informer == nullptr || !informer->HasSynced()) return cached;
  ASSIGN_OR_RETURN(kube::Object live, control_plane.raw().Get(resource, key, stop));
  return kube::Share(std::move(live));
}

}  // namespace works
