#include "kube/runtime/internal/lease_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace kube {
namespace {

constexpr int kForbidden = 403;

}  // namespace

LeaseWatch::LeaseWatch(Client& client, const Resource& leases, ObjectKey lease)
    : client_(client), leases_(leases), lease_(std::move(lease)) {}

LeaseWatch::~LeaseWatch() = default;

void LeaseWatch::Await(absl::Duration pause, const base::StopToken& stop) {
  bool runs;
  {
    absl::MutexLock lock(&mu_);
    runs = is_forbidden_ || std::exchange(running_, true);
  }
  if (!runs) {
    watch_.reset();
    WatchOptions options;
    options.field_selector = absl::StrCat("metadata.name=", lease_.name);
    watch_ = client_.StartWatch(leases_, lease_.ns, options, *this);
  }
  bool stopped = false;
  base::StopCallback wake(stop, [this, &stopped] {
    absl::MutexLock lock(&mu_);
    stopped = true;
  });
  // Declared after `wake`, so that it is released before the destructor of `wake` waits for a
  // callback that is running.
  absl::MutexLock lock(&mu_);
  const auto over = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped || given_up_; };
  const base::Clock& clock = client_.clock();
  clock.AwaitUntil(mu_, absl::Condition(&over), clock.SteadyNow() + pause);
  given_up_ = false;
}

// A watch without a version begins with the Lease as it is, so that nothing is missed between two
// watches.
void LeaseWatch::OnEvent(EventType type, Object lease) {
  if (type == EventType::kBookmark) return;
  const bool free =
      type == EventType::kDeleted || lease.spec()["holderIdentity"].AsString().empty();
  absl::MutexLock lock(&mu_);
  version_ = std::string(lease.resource_version());
  seen_at_ = client_.clock().SteadyNow();
  given_up_ = given_up_ || free;
}

std::optional<base::SteadyTime> LeaseWatch::SeenAt(absl::string_view resource_version) const {
  absl::MutexLock lock(&mu_);
  if (version_.empty() || version_ != resource_version) return std::nullopt;
  return seen_at_;
}

void LeaseWatch::OnEnd(absl::Status status) {
  absl::MutexLock lock(&mu_);
  running_ = false;
  is_forbidden_ = FailureOf(status).code == kForbidden;
}

}  // namespace kube
