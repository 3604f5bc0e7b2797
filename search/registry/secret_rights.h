// Whether the writer of a ResourceRegistry may have a Secret sent to the OpenSearch that it names.
#ifndef SEARCH_REGISTRY_SECRET_RIGHTS_H_
#define SEARCH_REGISTRY_SECRET_RIGHTS_H_

#include "absl/status/status.h"
#include "api/resource_registry.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/user_info.h"

namespace search {

// OK if the target names no Secret, or the user may get it in the control plane: who may read a
// Secret can send it wherever they like. Otherwise the error that the API answers with: 403, or
// that the rights could not be determined. Blocks for some seconds at most.
absl::Status MaySendSecret(kube::aggregation::Authorizer& authorizer, const base::Clock& clock,
                           const kube::aggregation::UserInfo& user,
                           const api::OpenSearchTarget& target, const base::StopToken& stop);

}  // namespace search

#endif  // SEARCH_REGISTRY_SECRET_RIGHTS_H_
