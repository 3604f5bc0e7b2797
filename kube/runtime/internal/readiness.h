// The checks of /readyz: whether this process has the data with which it could lead.
#ifndef KUBE_RUNTIME_INTERNAL_READINESS_H_
#define KUBE_RUNTIME_INTERNAL_READINESS_H_

#include <vector>

#include "kube/cache/informer.h"
#include "kube/runtime/internal/http_endpoints.h"

namespace kube::internal {

// Returns the checks "api-server" (fails while none of the informers can list or watch) and
// "informer-sync" (fails until one has synced; names those that have not). One kind that cannot be
// watched does not make the process unready, because everything else works.
std::vector<HealthCheck> CheckInformers(const InformerSet& informers);

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_READINESS_H_
