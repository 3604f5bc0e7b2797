#include "kube/client/rest_mapper.h"

#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace kube {
namespace {

// Kinds come with CRDs, rarely; a kind that stays unknown must not cause a pass for every look-up.
constexpr absl::Duration kRediscoveryInterval = absl::Seconds(3);
// A pass of one request per group-version over a slow server.
constexpr absl::Duration kLongestPass = absl::Minutes(2);

}  // namespace

struct RestMapper::Impl {
  Impl(Client& client, const base::Clock& clock) : client(client), clock(clock) {}

  absl::StatusOr<Resource> Find(const Gvk& gvk) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns whether the last pass could not read the kind's group-version, or the root above it.
  bool MayBeMissing(const Gvk& gvk) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Store(const Discovery& discovery) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Runs discovery, or waits for the run of another thread.
  absl::Status Rediscover(const base::StopToken& stop);

  Client& client;
  const base::Clock& clock;
  absl::Mutex mu;
  absl::flat_hash_map<Gvk, Resource> resources ABSL_GUARDED_BY(mu);
  std::set<std::string> failed_groups ABSL_GUARDED_BY(mu);
  bool running ABSL_GUARDED_BY(mu) = false;
  base::SteadyTime last_run ABSL_GUARDED_BY(mu) = base::SteadyTime::InfinitePast();
  absl::Status last_error ABSL_GUARDED_BY(mu);
};

bool RestMapper::Impl::MayBeMissing(const Gvk& gvk) const {
  return failed_groups.count(gvk.ApiVersion()) > 0 ||
         failed_groups.count(gvk.group.empty() ? "/api" : "/apis") > 0;
}

absl::StatusOr<Resource> RestMapper::Impl::Find(const Gvk& gvk) const {
  const auto found = resources.find(gvk);
  if (found != resources.end()) return found->second;
  if (MayBeMissing(gvk)) {
    return absl::UnavailableError(absl::StrCat("discovery of ", gvk.ApiVersion(),
                                               " is incomplete, kind \"", gvk.kind,
                                               "\" may be served there"));
  }
  return NoSuchKindError(gvk);
}

void RestMapper::Impl::Store(const Discovery& discovery) {
  failed_groups = {discovery.failed_groups.begin(), discovery.failed_groups.end()};
  absl::flat_hash_map<Gvk, Resource> fresh;
  for (const ApiResource& found : discovery.resources) {
    fresh.emplace(found.resource.gvk, found.resource);  // The first of a kind stays.
  }
  // What a failed group served before, it probably serves still.
  for (auto& [gvk, resource] : resources) {
    if (MayBeMissing(gvk)) fresh.emplace(gvk, std::move(resource));
  }
  resources = std::move(fresh);
}

absl::Status RestMapper::Impl::Rediscover(const base::StopToken& stop) {
  bool stopped = false;
  base::StopCallback wake(stop, [&] {
    absl::MutexLock lock(&mu);
    stopped = true;
  });
  {
    absl::MutexLock lock(&mu);
    auto idle = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return stopped || !running; };
    const base::SteadyTime give_up = clock.SteadyNow() + kLongestPass;
    if (!clock.AwaitUntil(mu, absl::Condition(&idle), give_up)) {
      return absl::DeadlineExceededError("waiting for discovery");
    }
    if (stopped) return absl::CancelledError("discovery: stopped");
    if (clock.SteadyNow() - last_run < kRediscoveryInterval) return last_error;
    running = true;
  }
  const auto discovery = Discover(client, stop);
  absl::MutexLock lock(&mu);
  running = false;
  if (discovery.ok()) Store(*discovery);
  // A caller that gave up says nothing about the server.
  if (absl::IsCancelled(discovery.status())) return discovery.status();
  last_run = clock.SteadyNow();
  last_error = discovery.status();
  return last_error;
}

RestMapper::RestMapper(Client& client, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(client, clock)) {}

RestMapper::~RestMapper() = default;

absl::StatusOr<Resource> RestMapper::ForKind(const Gvk& gvk, const base::StopToken& stop) {
  {
    absl::MutexLock lock(&impl_->mu);
    auto found = impl_->Find(gvk);
    if (found.ok()) return found;
  }
  return ForKindNow(gvk, stop);
}

absl::StatusOr<Resource> RestMapper::ForKindNow(const Gvk& gvk, const base::StopToken& stop) {
  RETURN_IF_ERROR(impl_->Rediscover(stop));
  absl::MutexLock lock(&impl_->mu);
  return impl_->Find(gvk);
}

std::optional<Resource> RestMapper::Known(const Gvk& gvk) const {
  absl::MutexLock lock(&impl_->mu);
  const auto found = impl_->resources.find(gvk);
  if (found == impl_->resources.end()) return std::nullopt;
  return found->second;
}

void RestMapper::Update(const Discovery& discovery) {
  absl::MutexLock lock(&impl_->mu);
  impl_->Store(discovery);
}

void RestMapper::Reset() {
  absl::MutexLock lock(&impl_->mu);
  impl_->resources.clear();
  impl_->failed_groups.clear();
  impl_->last_run = base::SteadyTime::InfinitePast();
}

}  // namespace kube
