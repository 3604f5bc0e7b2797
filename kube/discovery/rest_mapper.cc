// A look-up that finds nothing runs a discovery pass (Rediscover). One thread runs it with mu
// released while the others wait for its end and then look again; within three seconds after a pass
// no look-up runs another, and each returns the error of that pass. A pass that its own caller has
// cancelled does not count.
//
// A pass replaces what is known. Groups that it could not read keep the kinds that they served
// before (`unread`), and a kind that is not known there gives kUnavailable instead of kNotFound,
// since it may be served. The state of a pass holds ETags, by which the next one reads only what
// has changed; it may be lost at any moment (Reset), and then everything is read.

#include "kube/discovery/rest_mapper.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "kube/client/errors.h"
#include "kube/discovery/failed_groups.h"
#include "kube/discovery/internal/discovery_pass.h"

namespace kube {
namespace {

// Kinds are added by CRDs, which is rare; a kind that stays unknown must not cause a pass for every
// look-up.
constexpr absl::Duration kRediscoveryInterval = absl::Seconds(3);
// The limit of a pass with one request per group-version over a slow server.
constexpr absl::Duration kLongestPass = absl::Minutes(2);

// Finds the resources of a discovery by their kinds.
class KindIndex {
 public:
  KindIndex() = default;
  explicit KindIndex(std::shared_ptr<const Discovery> discovery)
      : discovery_(std::move(discovery)), by_kind_(discovery_->resources.size()) {
    std::iota(by_kind_.begin(), by_kind_.end(), 0);
    // The first resource of a kind counts.
    std::stable_sort(by_kind_.begin(), by_kind_.end(),
                     [this](uint32_t a, uint32_t b) { return OrderOf(At(a)) < OrderOf(At(b)); });
  }

  const std::shared_ptr<const Discovery>& discovery() const { return discovery_; }

  // Returns nullptr when there is none.
  const Resource* Find(const Gvk& gvk) const {
    const auto found = std::lower_bound(
        by_kind_.begin(), by_kind_.end(), gvk,
        [this](uint32_t i, const Gvk& wanted) { return OrderOf(At(i)) < OrderOf(wanted); });
    if (found == by_kind_.end() || At(*found) != gvk) return nullptr;
    return &discovery_->resources[*found].resource;
  }

 private:
  // The kind is compared first, because kinds differ more often than groups and versions.
  static std::tuple<absl::string_view, absl::string_view, absl::string_view> OrderOf(
      const Gvk& gvk) {
    return {gvk.kind, gvk.group, gvk.version};
  }
  const Gvk& At(uint32_t i) const { return discovery_->resources[i].resource.gvk; }

  std::shared_ptr<const Discovery> discovery_ = std::make_shared<const Discovery>();
  std::vector<uint32_t> by_kind_;
};

}  // namespace

std::shared_ptr<const Discovery> DiscoveryPool::Share(std::shared_ptr<const Discovery> fresh) {
  absl::MutexLock lock(&mu_);
  for (auto known = known_.begin(); known != known_.end();) {
    const std::shared_ptr<const Discovery> held = known->lock();
    if (held != nullptr && (held == fresh || *held == *fresh)) return held;
    known = held == nullptr ? known_.erase(known) : known + 1;
  }
  known_.push_back(fresh);
  return fresh;
}

struct RestMapper::Impl {
  Impl(Client& client, const base::Clock& clock, std::shared_ptr<DiscoveryPool> pool)
      : client(client), clock(clock), pool(std::move(pool)) {}

  std::optional<Resource> Known(const Gvk& gvk) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  absl::StatusOr<Resource> Find(const Gvk& gvk) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Returns whether the last pass could not read the kind's group-version, or the root above it.
  bool MayBeMissing(const Gvk& gvk) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Store(const std::shared_ptr<const Discovery>& discovery) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Runs one pass, whose result is kept for the next one.
  absl::StatusOr<std::shared_ptr<const Discovery>> Discover(const base::StopToken& stop);
  // Runs discovery, or waits for the run of another thread.
  absl::Status Rediscover(const base::StopToken& stop);

  Client& client;
  const base::Clock& clock;
  const std::shared_ptr<DiscoveryPool> pool;  // May be null.
  absl::Mutex mu;
  int64_t begun ABSL_GUARDED_BY(mu) = 0;   // The number of passes so far, which numbers them.
  int64_t stored ABSL_GUARDED_BY(mu) = 0;  // The number of the pass that `state` is from.
  DiscoveryState state ABSL_GUARDED_BY(mu);
  KindIndex served ABSL_GUARDED_BY(mu);
  // Resources that `served` lacks because their group could not be read.
  std::map<Gvk, Resource> unread ABSL_GUARDED_BY(mu);
  bool running ABSL_GUARDED_BY(mu) = false;
  base::SteadyTime last_run ABSL_GUARDED_BY(mu) = base::SteadyTime::InfinitePast();
  absl::Status last_error ABSL_GUARDED_BY(mu);
};

bool RestMapper::Impl::MayBeMissing(const Gvk& gvk) const {
  return IsUnread(served.discovery()->failed_groups, gvk.ApiVersion());
}

std::optional<Resource> RestMapper::Impl::Known(const Gvk& gvk) const {
  if (const Resource* found = served.Find(gvk); found != nullptr) return *found;
  const auto found = unread.find(gvk);
  if (found == unread.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<Resource> RestMapper::Impl::Find(const Gvk& gvk) const {
  if (auto known = Known(gvk); known.has_value()) return *std::move(known);
  if (MayBeMissing(gvk)) {
    return absl::UnavailableError(absl::StrCat("discovery of ", gvk.ApiVersion(),
                                               " is incomplete, kind \"", gvk.kind,
                                               "\" may be served there"));
  }
  return NoSuchKindError(gvk);
}

void RestMapper::Impl::Store(const std::shared_ptr<const Discovery>& discovery) {
  if (discovery == served.discovery()) return;
  const KindIndex before = std::exchange(served, KindIndex(discovery));
  // A failed group probably still serves what it served before.
  std::erase_if(unread, [&](const auto& kind) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !MayBeMissing(kind.first) || served.Find(kind.first) != nullptr;
  });
  if (discovery->failed_groups.empty()) return;
  for (const ApiResource& old : before.discovery()->resources) {
    const Gvk& gvk = old.resource.gvk;
    if (MayBeMissing(gvk) && served.Find(gvk) == nullptr) unread.emplace(gvk, old.resource);
  }
}

absl::StatusOr<std::shared_ptr<const Discovery>> RestMapper::Impl::Discover(
    const base::StopToken& stop) {
  DiscoveryState before;
  int64_t number = 0;
  {
    absl::MutexLock lock(&mu);
    before = state;
    number = ++begun;
  }
  ASSIGN_OR_RETURN(DiscoveryState after, DiscoverSince(client, before, stop));
  if (pool != nullptr && after.found != before.found) after.found = pool->Share(after.found);
  absl::MutexLock lock(&mu);
  // The result of a pass that began later is newer, although it came sooner.
  if (number < stored) return state.found != nullptr ? state.found : after.found;
  stored = number;
  state = std::move(after);
  Store(state.found);
  return state.found;
}

absl::Status RestMapper::Impl::Rediscover(const base::StopToken& stop) {
  const base::StopFlag stopped(mu, stop);
  {
    absl::MutexLock lock(&mu);
    auto idle = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return stopped.IsSet() || !running; };
    const base::SteadyTime give_up = clock.SteadyNow() + kLongestPass;
    if (!clock.AwaitUntil(mu, absl::Condition(&idle), give_up)) {
      return absl::DeadlineExceededError("waiting for discovery");
    }
    if (stopped.IsSet()) return absl::CancelledError("discovery: stopped");
    if (clock.SteadyNow() - last_run < kRediscoveryInterval) return last_error;
    running = true;
  }
  const auto discovery = Discover(stop);
  absl::MutexLock lock(&mu);
  running = false;
  // The error of a caller that was cancelled shows nothing about the server.
  if (absl::IsCancelled(discovery.status())) return discovery.status();
  last_run = clock.SteadyNow();
  last_error = discovery.status();
  return last_error;
}

RestMapper::RestMapper(Client& client, const base::Clock& clock,
                       std::shared_ptr<DiscoveryPool> pool)
    : impl_(std::make_unique<Impl>(client, clock, std::move(pool))) {}

RestMapper::~RestMapper() = default;

absl::StatusOr<std::shared_ptr<const Discovery>> RestMapper::Discover(const base::StopToken& stop) {
  return impl_->Discover(stop);
}

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
  return impl_->Known(gvk);
}

void RestMapper::Update(const Discovery& discovery) {
  absl::MutexLock lock(&impl_->mu);
  impl_->Store(std::make_shared<const Discovery>(discovery));
}

void RestMapper::Reset() {
  absl::MutexLock lock(&impl_->mu);
  impl_->stored = ++impl_->begun;  // A pass that is under way began before this.
  impl_->state = {};
  impl_->served = {};
  impl_->unread.clear();
  impl_->last_run = base::SteadyTime::InfinitePast();
}

}  // namespace kube
