#include "kube/runtime/internal/readiness.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kube::internal {

std::vector<HealthCheck> CheckInformers(const InformerSet& informers) {
  const std::vector<std::shared_ptr<Informer>> all = informers.All();
  size_t failing = 0;
  absl::Status why;
  std::vector<std::string> not_synced;
  for (const std::shared_ptr<Informer>& informer : all) {
    const absl::Status error = informer->last_error();
    failing += error.ok() ? 0 : 1;
    why.Update(error);
    if (!informer->HasSynced()) not_synced.push_back(informer->resource().gvr().ToString());
  }
  HealthCheck server{.name = "api-server", .ok = all.empty() || failing < all.size()};
  if (failing > 0) {
    server.remark = absl::StrCat(failing, " of ", all.size(), " watches fail: ", why.message());
  }
  HealthCheck sync{.name = "informer-sync", .ok = all.empty() || not_synced.size() < all.size()};
  if (!not_synced.empty()) {
    sync.remark = absl::StrCat("waiting for ", absl::StrJoin(not_synced, ", "));
  }
  return {std::move(server), std::move(sync)};
}

}  // namespace kube::internal
