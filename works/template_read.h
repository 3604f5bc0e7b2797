// Reads a template that somebody else has named, in a binding or an autoscaler, for loops that end
// their pass for good when it does not exist.
#ifndef WORKS_TEMPLATE_READ_H_
#define WORKS_TEMPLATE_READ_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace works {

// Returns the template from the cache, or else from the server: the cache of its kind may be behind
// that of what names it, and nothing brings that back once the template is seen. kNotFound when the
// server does not have it either.
absl::StatusOr<kube::ObjectPtr> ReadTemplate(kube::ClusterClient& control_plane,
                                             const kube::Resource& resource,
                                             const kube::ObjectKey& key,
                                             const base::StopToken& stop);

}  // namespace works

#endif  // WORKS_TEMPLATE_READ_H_
