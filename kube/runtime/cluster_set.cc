// How it works. A member is made by the first Get and stays until Remove, or until Refresh finds
// that its configuration differs in more than the token, or that the member refuses the token in
// use: then informers and the loops' requests are in a back-off, which a new connection ends.
// Members are made without holding the lock, since that reads configurations and certificates: when
// two calls make the same member, the second discards its own (Insert), and so does a call that
// read the configuration of a cluster that was removed meanwhile (`removals`). Refresh stops the
// old member's informers before it announces the new one, so that a subscriber never sees events of
// both.

#include "kube/runtime/cluster_set.h"

#include <map>
#include <tuple>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_budget.h"
#include "base/log.h"
#include "base/status.h"
#include "kube/http/http_transport.h"
#include "kube/runtime/internal/refusal_transport.h"

namespace kube {
namespace {

class Member : public MemberCluster {
 public:
  struct Parts {
    std::shared_ptr<internal::RefusalTransport> transport;
    ConnectionConfig config;
    ClientOptions options;
    const base::Clock& clock;
    metrics::Registry* registry;
    std::shared_ptr<InformerThreads> threads;
    std::shared_ptr<DiscoveryPool> discoveries;
  };
  explicit Member(Parts parts)
      : name_(parts.options.name),
        transport_(parts.transport),
        config_(std::move(parts.config)),
        raw_(std::move(parts.transport), std::move(parts.options), parts.clock, parts.registry),
        mapper_(raw_, parts.clock, std::move(parts.discoveries)),
        informers_(raw_, parts.clock, parts.threads),
        unfiltered_(raw_, parts.clock, std::move(parts.threads)),
        client_(raw_, mapper_, informers_) {}

  void SetBudget(const std::shared_ptr<base::ByteBudget>& budget,
                 const std::function<void()>& on_exceeded, double unfiltered_share) {
    informers_.SetBudget(budget, on_exceeded);
    unfiltered_.SetBudget(budget, on_exceeded, unfiltered_share);
  }

  const std::string& name() const override { return name_; }
  ClusterClient& client() override { return client_; }
  InformerSet& unfiltered() override { return unfiltered_; }
  void Stop() {
    informers_.Stop();
    unfiltered_.Stop();
  }

  // Returns whether the member is connected as `config` demands, if need be after taking over a new
  // token. One that replaces a refused one is not taken over.
  bool Follow(const ConnectionConfig& config) {
    absl::MutexLock lock(&mu_);
    if (SameConnection(config, config_)) return true;
    if (!DifferOnlyInToken(config, config_) || transport_->is_refused()) return false;
    if (!transport_->ReplaceToken(config.token)) return false;
    config_ = config;
    base::LogInfo("the cluster has a new token", {{"cluster", name_}});
    return true;
  }

 private:
  const std::string name_;
  const std::shared_ptr<internal::RefusalTransport> transport_;
  absl::Mutex mu_;
  ConnectionConfig config_ ABSL_GUARDED_BY(mu_);
  // Each of these uses those before it, so the last one is destroyed first.
  Client raw_;
  RestMapper mapper_;
  InformerSet informers_;
  InformerSet unfiltered_;
  ClusterClient client_;
};

}  // namespace

struct ClusterSet::Subscribers {
  absl::Mutex mu;  // Held while subscribers are called.
  std::map<int64_t, ClusterFn> by_id ABSL_GUARDED_BY(mu);
  int64_t last_id ABSL_GUARDED_BY(mu) = 0;
};

struct ClusterSet::Impl {
  Impl(Options given, ClusterConfigSource& source, const base::Clock& clock,
       metrics::Registry* registry)
      : options(std::move(given)), source(source), clock(clock), registry(registry) {
    if (!options.new_transport) options.new_transport = NewHttpTransport;
    if (options.discoveries == nullptr) options.discoveries = std::make_shared<DiscoveryPool>();
  }

  using MemberPtr = std::shared_ptr<Member>;

  Options options;
  ClusterConfigSource& source;
  const base::Clock& clock;
  metrics::Registry* const registry;
  mutable absl::Mutex mu;
  std::map<std::string, MemberPtr> members ABSL_GUARDED_BY(mu);
  int removals ABSL_GUARDED_BY(mu) = 0;
  const std::shared_ptr<Subscribers> subscribers = std::make_shared<Subscribers>();

  void AnnounceReconnected(const std::string& cluster) const {
    absl::MutexLock lock(&subscribers->mu);
    for (const auto& [id, fn] : subscribers->by_id) fn(cluster);
  }

  int Removals() const {
    absl::MutexLock lock(&mu);
    return removals;
  }

  MemberPtr Find(const std::string& cluster) const {
    absl::MutexLock lock(&mu);
    const auto it = members.find(cluster);
    return it == members.end() ? nullptr : it->second;
  }

  absl::StatusOr<MemberPtr> Connect(const std::string& cluster, ConnectionConfig config) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Transport> transport, options.new_transport(config));
    if (options.decorate) transport = options.decorate(cluster, std::move(transport));
    ClientOptions client{.name = cluster,
                         .host = HostOf(config.server),
                         .qps = options.qps,
                         .burst = options.burst,
                         .user_agent = options.user_agent};
    if (options.member_bytes > 0) {
      client.memory = std::make_shared<base::ByteBudget>(options.member_bytes, options.total_bytes);
    }
    const std::shared_ptr<base::ByteBudget> budget = client.memory;
    // It notes that the member refuses the token: then a new token needs a new connection (see
    // Follow).
    auto noting = std::make_shared<internal::RefusalTransport>(std::move(transport));
    auto member = std::make_shared<Member>(
        Member::Parts{std::move(noting), std::move(config), std::move(client), clock, registry,
                      options.informer_threads, options.discoveries});
    if (budget != nullptr) {
      const auto on_exceeded = [cluster, report = options.on_bytes_exceeded] {
        if (report) report(cluster);
      };
      member->SetBudget(budget, on_exceeded, options.unfiltered_share);
    }
    if (options.on_new) options.on_new(*member);
    return member;
  }

  // Returns the member of that name, which may be an earlier one; nullptr when any cluster left the
  // set since `removals_before` was read, because then the configuration may be that of a cluster
  // that is gone.
  MemberPtr Insert(MemberPtr member, int removals_before) {
    absl::MutexLock lock(&mu);
    if (removals != removals_before) return nullptr;
    return members.try_emplace(member->name(), std::move(member)).first->second;
  }

  // Returns whether `old` was still the member, and so was replaced.
  bool Replace(const MemberPtr& old, MemberPtr member) {
    absl::MutexLock lock(&mu);
    const auto it = members.find(old->name());
    // Otherwise another Refresh was faster, or the cluster was removed.
    if (it == members.end() || it->second != old) return false;
    it->second = std::move(member);
    return true;
  }
};

ClusterSet::ClusterSet(Options options, ClusterConfigSource& source, const base::Clock& clock,
                       metrics::Registry* registry)
    : impl_(std::make_unique<Impl>(std::move(options), source, clock, registry)) {}

ClusterSet::~ClusterSet() {
  for (const std::string& name : Names()) Remove(name);
}

absl::StatusOr<std::shared_ptr<MemberCluster>> ClusterSet::Get(const std::string& cluster) {
  for (;;) {
    if (Impl::MemberPtr held = impl_->Find(cluster)) return held;
    const int removals = impl_->Removals();
    ASSIGN_OR_RETURN(ConnectionConfig config, impl_->source.ConfigFor(cluster));
    ASSIGN_OR_RETURN(Impl::MemberPtr made, impl_->Connect(cluster, std::move(config)));
    // A cluster was removed meanwhile: the configuration may be of it, so it is read again.
    if (Impl::MemberPtr held = impl_->Insert(std::move(made), removals)) return held;
  }
}

std::shared_ptr<MemberCluster> ClusterSet::Find(const std::string& cluster) const {
  return impl_->Find(cluster);
}

absl::Status ClusterSet::Refresh(const std::string& cluster) {
  const Impl::MemberPtr held = impl_->Find(cluster);
  if (held == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(ConnectionConfig config, impl_->source.ConfigFor(cluster));
  if (held->Follow(config)) return absl::OkStatus();
  ASSIGN_OR_RETURN(Impl::MemberPtr made, impl_->Connect(cluster, std::move(config)));
  // Another call has replaced or removed it; the connection made here is dropped.
  if (!impl_->Replace(held, std::move(made))) return absl::OkStatus();
  base::LogInfo("connection to the cluster changed", {{"cluster", cluster}});
  held->Stop();
  impl_->AnnounceReconnected(cluster);
  return absl::OkStatus();
}

void ClusterSet::Remove(const std::string& cluster) {
  Impl::MemberPtr member;
  {
    absl::MutexLock lock(&impl_->mu);
    ++impl_->removals;
    const auto it = impl_->members.find(cluster);
    if (it == impl_->members.end()) return;
    member = std::move(it->second);
    impl_->members.erase(it);
  }
  // Without the lock: informers call handlers, which may call this set.
  member->Stop();
}

std::vector<std::string> ClusterSet::Names() const {
  std::vector<std::string> names;
  absl::MutexLock lock(&impl_->mu);
  for (const auto& [name, member] : impl_->members) names.push_back(name);
  return names;
}

ClusterSet::Subscription ClusterSet::OnReconnected(ClusterFn fn) {
  Subscribers& subscribers = *impl_->subscribers;
  absl::MutexLock lock(&subscribers.mu);
  const int64_t id = ++subscribers.last_id;
  subscribers.by_id.emplace(id, std::move(fn));
  return Subscription(impl_->subscribers, id);
}

ClusterSet::Subscription& ClusterSet::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  End();
  subscribers_ = std::move(other.subscribers_);
  id_ = other.id_;
  return *this;
}

void ClusterSet::Subscription::End() {
  const std::shared_ptr<Subscribers> subscribers = subscribers_.lock();
  subscribers_.reset();
  if (subscribers == nullptr) return;  // It was moved from, or the set is gone.
  absl::MutexLock lock(&subscribers->mu);
  subscribers->by_id.erase(id_);
}

}  // namespace kube
