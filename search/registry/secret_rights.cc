#include "search/registry/secret_rights.h"

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_flag.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

using kube::aggregation::Attributes;
using kube::aggregation::Decision;

constexpr absl::Duration kAnswer = absl::Seconds(15);

// The answer of an authorizer, which may come after the waiting is over.
class PendingDecision {
 public:
  void Set(absl::StatusOr<Decision> decision) {
    absl::MutexLock lock(&mu_);
    decision_ = std::move(decision);
  }
  absl::StatusOr<Decision> Await(const base::Clock& clock, const base::StopToken& stop) {
    const base::StopFlag stopped(mu_, stop);
    absl::MutexLock lock(&mu_);
    const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return stopped.IsSet() || decision_.has_value();
    };
    clock.AwaitUntil(mu_, absl::Condition(&ready), clock.SteadyNow() + kAnswer);
    if (decision_.has_value()) return *decision_;
    return absl::UnavailableError("the control plane has not answered in time");
  }

 private:
  absl::Mutex mu_;
  std::optional<absl::StatusOr<Decision>> decision_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::Status MaySendSecret(kube::aggregation::Authorizer& authorizer, const base::Clock& clock,
                           const kube::aggregation::UserInfo& user,
                           const api::OpenSearchTarget& target, const base::StopToken& stop) {
  if (target.secret.name.empty()) return absl::OkStatus();
  const Attributes attributes{.user = user,
                              .verb = "get",
                              .is_resource = true,
                              .version = "v1",
                              .resource = "secrets",
                              .ns = target.secret.ns,
                              .name = target.secret.name};
  const auto pending = std::make_shared<PendingDecision>();
  authorizer.Authorize(attributes, [pending](absl::StatusOr<Decision> decision) {
    pending->Set(std::move(decision));
  });
  const absl::StatusOr<Decision> decision = pending->Await(clock, stop);
  if (!decision.ok()) return kube::aggregation::AuthorizationError(decision.status());
  if (decision->allowed) return absl::OkStatus();
  return kube::aggregation::ForbiddenError(
      attributes, "who has a Secret sent to an OpenSearch has to be allowed to read it");
}

}  // namespace search
