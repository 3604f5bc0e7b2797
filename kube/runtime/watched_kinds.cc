// One thread, the runnable's, alternates between two steps: a round of discovery determines what is
// served, and a pass over the needs attaches handlers to kinds that are needed, served and allowed,
// and detaches the rest. Between rounds it also watches kinds that are needed meanwhile, and begins
// the next round at once if one of them is not served. Needs are counted under `mu`, which is never
// held while a subscriber or an informer is called. What is watched is guarded by `pass_mu`, which
// the pass holds, and which the end of a subscription takes as well.

#include "kube/runtime/watched_kinds.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "kube/discovery/failed_groups.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/internal/discovered_kinds.h"

namespace kube {
namespace {

constexpr absl::Duration kDiscoveryPeriod = absl::Seconds(30);
// The pause before the next round for a kind that is needed before it is served; doubled each time.
constexpr absl::Duration kFirstRetry = absl::Seconds(1);
// How often a subscriber is asked about kinds that it holds back.
constexpr absl::Duration kAskAgain = absl::Milliseconds(500);

}  // namespace

struct WatchedKinds::Impl {
  Impl(ClusterClient& cluster, const base::Clock& clock) : cluster(cluster), clock(clock) {}

  using Reasons = std::map<std::string, int>;  // How often each reason was given.
  struct Needs {
    KindSubscriber* subscriber = nullptr;
    absl::flat_hash_map<Gvk, Reasons> kinds;
  };
  struct Attached {
    HandlerRegistration registration;
    // Since when it is not needed; InfiniteFuture while it is.
    base::SteadyTime needed_until = base::SteadyTime::InfiniteFuture();
  };
  // A kind that several subscribers need has one informer, and a handler for each of them.
  struct Watched {
    Resource resource;
    std::shared_ptr<Informer> informer;
    bool ours = false;                 // The informer was started for this object alone.
    std::map<int, Attached> handlers;  // By the id of the subscriber.
  };
  // What a pass found.
  struct Pass {
    bool complete = true;    // True if all needed kinds are served.
    bool held_back = false;  // True if a subscriber makes a kind wait.
  };

  ClusterClient& cluster;
  const base::Clock& clock;

  mutable absl::Mutex mu;
  std::map<int, Needs> subscribers ABSL_GUARDED_BY(mu);
  int next_id ABSL_GUARDED_BY(mu) = 0;
  bool news ABSL_GUARDED_BY(mu) = false;

  absl::Mutex pass_mu ABSL_ACQUIRED_BEFORE(mu);
  internal::DiscoveredKinds discovered ABSL_GUARDED_BY(pass_mu);
  std::map<Gvk, Watched> watched ABSL_GUARDED_BY(pass_mu);
  // Resources whose informers were started before the loops, which use them. An informer that was
  // started later is due to a look-up of one of the watched kinds, and is removed with the kind.
  absl::flat_hash_set<Gvr> others ABSL_GUARDED_BY(pass_mu);
  // Those of kinds that were needed before the loops began. They are not among `others`.
  absl::flat_hash_set<Gvr> warm ABSL_GUARDED_BY(pass_mu);
  std::string last_failure ABSL_GUARDED_BY(pass_mu);

  void Need(int id, const Gvk& gvk, const std::string& reason);
  void Release(int id, const Gvk& gvk, const std::string& reason);
  std::map<int, KindSubscriber*> Subscribers() const;
  std::map<Gvk, std::set<int>> Needed() const;

  void NoteOthers();
  void AnnounceStart();
  absl::Status Discover(const base::StopToken& stop);
  void Serve(const Discovery& discovery);
  // Returns the kind's resource if the subscriber is to have its events, else nullptr.
  const Resource* ServedTo(const KindSubscriber& subscriber, const Gvk& gvk) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mu);
  // Removes the handlers of the subscribers to which the kind is not served any more.
  void DetachUnserved(Watched& kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mu);
  Pass WatchNeeded();
  void WatchFor(int id, KindSubscriber& subscriber, const Resource& resource)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mu);
  void DropUnneeded(const std::map<Gvk, std::set<int>>& needed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mu);
  void Unwatch(Watched& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mu);
  // Removes one subscriber's handler and informs the subscriber.
  void Detach(Watched& kind, int id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(pass_mu);
  // Watches, until the deadline, what is needed meanwhile or not held back any more. Returns true
  // at once when a further kind is needed that is not served.
  bool WatchUntilRound(base::SteadyTime deadline, const base::StopToken& stop);
  bool AwaitNews(base::SteadyTime deadline, const base::StopToken& stop);
  void Report(const absl::Status& discovered);
};

void WatchedKinds::Impl::Need(int id, const Gvk& gvk, const std::string& reason) {
  absl::MutexLock lock(&mu);
  Reasons& reasons = subscribers.at(id).kinds[gvk];
  // Only a kind that nobody needed so far can change what has to be watched.
  news = news || reasons.empty();
  ++reasons[reason];
}

void WatchedKinds::Impl::Release(int id, const Gvk& gvk, const std::string& reason) {
  absl::MutexLock lock(&mu);
  auto& kinds = subscribers.at(id).kinds;
  const auto found = kinds.find(gvk);
  if (found == kinds.end()) return;
  const auto given = found->second.find(reason);
  // Reasons are counted, because two objects can give the same one.
  if (given == found->second.end() || --given->second > 0) return;
  found->second.erase(given);
  if (found->second.empty()) kinds.erase(found);
}

std::map<int, KindSubscriber*> WatchedKinds::Impl::Subscribers() const {
  absl::MutexLock lock(&mu);
  std::map<int, KindSubscriber*> all;
  for (const auto& [id, needs] : subscribers) all[id] = needs.subscriber;
  return all;
}

std::map<Gvk, std::set<int>> WatchedKinds::Impl::Needed() const {
  absl::MutexLock lock(&mu);
  std::map<Gvk, std::set<int>> needed;
  for (const auto& [id, needs] : subscribers) {
    for (const auto& [gvk, reasons] : needs.kinds) needed[gvk].insert(id);
  }
  return needed;
}

void WatchedKinds::Impl::NoteOthers() {
  absl::MutexLock lock(&pass_mu);
  for (const std::shared_ptr<Informer>& informer : cluster.informers().All()) {
    const Gvr gvr = informer->resource().gvr();
    if (!warm.contains(gvr)) others.insert(gvr);
  }
}

void WatchedKinds::Impl::AnnounceStart() {
  absl::MutexLock lock(&pass_mu);
  for (const auto& [id, subscriber] : Subscribers()) subscriber->OnStart();
}

absl::Status WatchedKinds::Impl::Discover(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Discovery> discovery,
                   cluster.mapper().Discover(stop));
  Serve(*discovery);
  return absl::OkStatus();
}

void WatchedKinds::Impl::Serve(const Discovery& discovery) {
  absl::MutexLock lock(&pass_mu);
  const std::vector<std::string>& failed = discovery.failed_groups;
  if (!failed.empty() && base::VlogOn(1)) {
    base::LogWarning("some API groups could not be discovered",
                     {{"groups", absl::StrJoin(failed, ",")}});
  }
  discovered.Note(discovery);
  for (auto kind = watched.begin(); kind != watched.end();) {
    DetachUnserved(kind->second);
    if (!kind->second.handlers.empty()) {
      ++kind;
      continue;
    }
    Unwatch(kind->second);
    kind = watched.erase(kind);
  }
  for (const auto& [id, subscriber] : Subscribers()) subscriber->OnDiscovered(discovered.shown());
}

const Resource* WatchedKinds::Impl::ServedTo(const KindSubscriber& subscriber,
                                             const Gvk& gvk) const {
  return subscriber.TakesAnyVersion() ? discovered.FindServed(gvk) : discovered.Find(gvk);
}

void WatchedKinds::Impl::DetachUnserved(Watched& kind) {
  for (const auto& [id, subscriber] : Subscribers()) {
    const bool is_served = ServedTo(*subscriber, kind.resource.gvk) != nullptr;
    if (!is_served && kind.handlers.contains(id)) Detach(kind, id);
  }
}

WatchedKinds::Impl::Pass WatchedKinds::Impl::WatchNeeded() {
  absl::MutexLock lock(&pass_mu);
  // A copy: handlers that are attached below deliver objects, because of which more may be needed.
  // That is noted as news, and the next pass deals with it.
  const std::map<Gvk, std::set<int>> needed = Needed();
  const std::map<int, KindSubscriber*> all = Subscribers();
  DropUnneeded(needed);
  Pass pass;
  for (const auto& [gvk, ids] : needed) {
    for (const int id : ids) {
      const Resource* const resource = ServedTo(*all.at(id), gvk);
      if (resource == nullptr) {
        pass.complete = false;
        continue;
      }
      const auto kind = watched.find(gvk);
      if (kind != watched.end() && kind->second.handlers.contains(id)) continue;
      if (all.at(id)->MayWatch(gvk)) {
        WatchFor(id, *all.at(id), *resource);
      } else {
        pass.held_back = true;
      }
    }
  }
  return pass;
}

void WatchedKinds::Impl::WatchFor(int id, KindSubscriber& subscriber, const Resource& resource) {
  Watched& kind = watched[resource.gvk];
  if (kind.informer == nullptr) {
    if (base::VlogOn(1)) {
      base::LogInfo("watching a kind", {{"resource", resource.gvr().ToString()}});
    }
    kind.resource = resource;
    kind.ours = !others.contains(resource.gvr());
    kind.informer = cluster.informers().Get(resource);
  }
  kind.handlers.emplace(
      id, Attached{HandlerRegistration(kind.informer, subscriber.HandlerFor(resource))});
}

void WatchedKinds::Impl::DropUnneeded(const std::map<Gvk, std::set<int>>& needed) {
  const base::SteadyTime now = clock.SteadyNow();
  const auto is_needed = [&](const Gvk& gvk, int id) {
    const auto kind = needed.find(gvk);
    return kind != needed.end() && kind->second.contains(id);
  };
  for (auto kind = watched.begin(); kind != watched.end();) {
    auto& handlers = kind->second.handlers;
    for (auto handler = handlers.begin(); handler != handlers.end();) {
      base::SteadyTime& until = handler->second.needed_until;
      // The first pass that does not find the need sets the time; later passes keep it.
      until = is_needed(kind->first, handler->first) ? base::SteadyTime::InfiniteFuture()
                                                     : std::min(until, now);
      const int id = handler->first;
      // A policy that is replaced releases its kinds and needs them again a moment later.
      const bool is_over = now >= until + kLinger;
      ++handler;
      if (is_over) Detach(kind->second, id);
    }
    if (!handlers.empty()) {
      ++kind;
      continue;
    }
    Unwatch(kind->second);
    kind = watched.erase(kind);
  }
}

void WatchedKinds::Impl::Unwatch(Watched& gone) {
  if (base::VlogOn(1)) {
    base::LogInfo("a kind is not watched any more", {{"resource", gone.resource.gvr().ToString()}});
  }
  while (!gone.handlers.empty()) Detach(gone, gone.handlers.begin()->first);
  // An informer that others use as well stays.
  if (gone.ours) cluster.informers().Remove(gone.resource);
}

void WatchedKinds::Impl::Detach(Watched& kind, int id) {
  kind.handlers.erase(id);
  const std::map<int, KindSubscriber*> all = Subscribers();
  const auto subscriber = all.find(id);
  if (subscriber != all.end()) subscriber->second->OnUnwatched(kind.resource.gvk);
}

bool WatchedKinds::Impl::WatchUntilRound(base::SteadyTime deadline, const base::StopToken& stop) {
  bool held_back = true;
  while (!stop.stop_requested() && clock.SteadyNow() < deadline) {
    const base::SteadyTime look =
        held_back ? clock.SteadyNow() + kAskAgain : base::SteadyTime::InfiniteFuture();
    const bool news = AwaitNews(std::min(deadline, look), stop);
    const Pass pass = WatchNeeded();
    // A further kind is needed that is not served: discovery begins at once.
    if (!pass.complete && news) return true;
    held_back = pass.held_back;
  }
  return false;
}

bool WatchedKinds::Impl::AwaitNews(base::SteadyTime deadline, const base::StopToken& stop) {
  const base::StopFlag stopped(mu, stop);
  absl::MutexLock lock(&mu);
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return stopped.IsSet() || news; };
  clock.AwaitUntil(mu, absl::Condition(&ready), deadline);
  return std::exchange(news, false);
}

void WatchedKinds::Impl::Report(const absl::Status& discovered) {
  absl::MutexLock lock(&pass_mu);
  const std::string failure = discovered.ok() ? "" : discovered.ToString();
  // Each different failure is logged once.
  if (failure != last_failure && !failure.empty() && !absl::IsCancelled(discovered)) {
    base::LogError("cannot find out which kinds the API server serves", {{"error", discovered}});
  }
  last_failure = failure;
}

WatchedKinds::WatchedKinds(ClusterClient& cluster, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(cluster, clock)) {}

WatchedKinds::~WatchedKinds() = default;

WatchedKinds::Subscription WatchedKinds::Subscribe(KindSubscriber& subscriber) {
  absl::MutexLock lock(&impl_->mu);
  const int id = impl_->next_id++;
  impl_->subscribers[id].subscriber = &subscriber;
  return Subscription(impl_.get(), id);
}

absl::Status WatchedKinds::WarmUp(const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Discovery> discovery,
                   impl_->cluster.mapper().Discover(stop));
  internal::DiscoveredKinds served;
  served.Note(*discovery);
  absl::MutexLock lock(&impl_->pass_mu);
  const std::map<int, KindSubscriber*> subscribers = impl_->Subscribers();
  InformerSet& informers = impl_->cluster.informers();
  for (const auto& [gvk, ids] : impl_->Needed()) {
    for (const int id : ids) {
      const Resource* const resource =
          subscribers.at(id)->TakesAnyVersion() ? served.FindServed(gvk) : served.Find(gvk);
      if (resource == nullptr || informers.Find(*resource) != nullptr) continue;
      impl_->warm.insert(resource->gvr());
      informers.Get(*resource);
    }
  }
  return absl::OkStatus();
}

std::map<std::string, std::string> WatchedKinds::Unread() const {
  absl::MutexLock lock(&impl_->pass_mu);
  std::map<std::string, std::string> unread;
  if (!impl_->last_failure.empty()) unread["discovery"] = impl_->last_failure;
  for (const auto& [gvk, ids] : impl_->Needed()) {
    // A kind that is watched already is read, whatever has happened to its group's discovery.
    const bool may_be = IsUnread(impl_->discovered.shown().failed_groups, gvk.ApiVersion());
    if (may_be && !impl_->watched.contains(gvk)) unread[gvk.ToString()] = "its group is unread";
  }
  return unread;
}

class WatchedKinds::Loop : public Runnable {
 public:
  explicit Loop(Impl& impl) : impl_(impl) {}
  std::string name() const override { return "discovery of watched kinds"; }
  void Prepare() override { impl_.NoteOthers(); }
  absl::Status Run(const base::StopToken& stop) override {
    absl::Duration retry = kFirstRetry;
    impl_.AnnounceStart();
    while (!stop.stop_requested()) {
      const absl::Status discovered = impl_.Discover(stop);
      impl_.Report(discovered);
      const bool complete = impl_.WatchNeeded().complete && discovered.ok();
      const base::SteadyTime next = impl_.clock.SteadyNow() + (complete ? kDiscoveryPeriod : retry);
      retry = complete ? kFirstRetry : std::min(retry * 2, kDiscoveryPeriod);
      if (impl_.WatchUntilRound(next, stop)) retry = kFirstRetry;
    }
    return absl::OkStatus();
  }

 private:
  Impl& impl_;
};

std::unique_ptr<Runnable> WatchedKinds::NewRunnable() { return std::make_unique<Loop>(*impl_); }

std::vector<std::string> WatchedKinds::ReasonsFor(const Gvk& gvk) const {
  absl::MutexLock lock(&impl_->mu);
  std::set<std::string> all;
  for (const auto& [id, needs] : impl_->subscribers) {
    const auto found = needs.kinds.find(gvk);
    if (found == needs.kinds.end()) continue;
    for (const auto& [reason, count] : found->second) all.insert(reason);
  }
  return {all.begin(), all.end()};
}

WatchedKinds::Subscription& WatchedKinds::Subscription::operator=(Subscription&& other) noexcept {
  Subscription ended(std::move(*this));
  impl_ = std::exchange(other.impl_, nullptr);
  id_ = other.id_;
  return *this;
}

WatchedKinds::Subscription::~Subscription() {
  if (impl_ == nullptr) return;
  // It waits for a pass that runs, which may be calling this subscriber.
  absl::MutexLock pass(&impl_->pass_mu);
  for (auto& [gvk, kind] : impl_->watched) kind.handlers.erase(id_);
  absl::MutexLock lock(&impl_->mu);
  impl_->subscribers.erase(id_);
}

void WatchedKinds::Subscription::Need(const Gvk& gvk, const std::string& reason) {
  impl_->Need(id_, gvk, reason);
}

void WatchedKinds::Subscription::Release(const Gvk& gvk, const std::string& reason) {
  impl_->Release(id_, gvk, reason);
}

EventHandler NeedKindsOf(WatchedKinds::Subscription& subscription, const std::string& reason,
                         std::function<std::set<Gvk>(const Object&)> kinds_of) {
  EventHandler handler;
  handler.on_add = [&subscription, reason, kinds_of](const ObjectPtr& object, bool) {
    for (const Gvk& gvk : kinds_of(*object)) subscription.Need(gvk, reason);
  };
  handler.on_update = [&subscription, reason, kinds_of](const ObjectPtr& before,
                                                        const ObjectPtr& after) {
    const std::set<Gvk> was = kinds_of(*before), is = kinds_of(*after);
    if (was == is) return;
    // New needs come before releases, so that a kind in both is never without a reason.
    for (const Gvk& gvk : is) subscription.Need(gvk, reason);
    for (const Gvk& gvk : was) subscription.Release(gvk, reason);
  };
  handler.on_delete = [&subscription, reason, kinds_of](const ObjectPtr& last) {
    for (const Gvk& gvk : kinds_of(*last)) subscription.Release(gvk, reason);
  };
  return handler;
}

}  // namespace kube
