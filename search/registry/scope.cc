// The thread of Run owns the computation; the functions that note changes only compare what counts
// with what was known, and mark clusters, or everything, as to be computed. A pass takes what is
// marked, resolves kinds without the lock (that may ask the control plane), computes the marked
// clusters, and publishes a snapshot in which all other clusters are the same pointers as before.
//
// Nothing depends on what earlier passes found: the scope follows from the present registries,
// Clusters and kinds alone. Only a kind that was resolved stays so while discovery itself fails, or
// until it has denied the kind for a while (see kind_table.cc).
//
// The first scope is withheld while discovery fails or has only just denied a kind: without it
// everything that a kind has in OpenSearch would look like something that nobody wants any more. If
// some kinds can be resolved, the rest (of an aggregated API whose server is down) is waited for
// half a minute and no longer.

#include "search/registry/scope.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "base/log.h"
#include "base/stop_flag.h"

namespace search {
namespace {

constexpr absl::Duration kResolveAgain = absl::Seconds(30);
constexpr absl::Duration kResolveDoubted = absl::Seconds(5);
constexpr absl::Duration kResolveFirst = absl::Seconds(1);  // While the first scope is withheld.

struct RegistryFacts {
  json::Value spec;
  api::ClusterAffinity clusters;
  std::vector<api::RegistrySelector> selectors;
  std::optional<api::OpenSearchTarget> open_search;
};
using RegistryFactsPtr = std::shared_ptr<const RegistryFacts>;

RegistryFactsPtr FactsOf(const kube::Object& registry) {
  const api::ResourceRegistryView view(registry);
  return std::make_shared<RegistryFacts>(
      RegistryFacts{registry.spec(), view.TargetCluster(), view.Selectors(), view.OpenSearch()});
}

bool IsComplete(const api::ClusterView& cluster) {
  return kube::IsConditionTrue(cluster.Conditions(), api::kCompleteApiEnablements);
}

// Returns whether the states of a Cluster differ in nothing that counts for a scope.
bool SameForScope(const kube::Object& a, const kube::Object& b) {
  const api::ClusterView x(a), y(b);
  return x.IsReady() == y.IsReady() && IsComplete(x) == IsComplete(y) &&
         a.IsDeleting() == b.IsDeleting() && a.labels() == b.labels() && a.spec() == b.spec() &&
         a.status()["apiEnablements"] == b.status()["apiEnablements"];
}

// Returns whether the cluster may have the kind. Upstream's rule: what is not listed counts as
// absent only if the list is complete.
bool MayHave(const api::ClusterView& cluster, const kube::Gvk& gvk) {
  return cluster.HasApi(gvk) || !IsComplete(cluster);
}

void Add(const api::RegistrySelector& selector, const kube::Resource& resource,
         const std::string& registry, ClusterScope& scope) {
  const auto [at, is_new] = scope.resources.try_emplace(resource.gvr());
  WantedResource& wanted = at->second;
  wanted.resource = resource;
  const bool is_first = wanted.registries.insert(registry).second;
  const bool had_all = !is_new && wanted.namespaces.empty();
  // All namespaces; a narrower selector of any registry adds nothing to that.
  if (selector.ns.empty() || !resource.namespaced) {
    wanted.namespaces.clear();
    wanted.narrowed.erase(registry);
    return;
  }
  if (!had_all) wanted.namespaces.insert(selector.ns);
  if (is_first || wanted.narrowed.contains(registry)) {
    wanted.narrowed[registry].insert(selector.ns);
  }
}

// Logs what registries name and nobody has, when that has changed.
void LogWhatIsNotThere(const Scope& before, const Scope& after) {
  if (before.unresolved != after.unresolved) {
    for (const auto& [registry, missing] : after.unresolved) {
      for (const auto& [gvk, why] : missing) {
        base::LogWarning("a kind that a registry names cannot be cached",
                         {{"registry", registry}, {"kind", gvk.ToString()}, {"reason", why}});
      }
    }
  }
  if (before.absent == after.absent) return;
  for (const auto& [registry, names] : after.absent) {
    for (const std::string& name : names) {
      base::LogWarning("a cluster that a registry names does not exist",
                       {{"registry", registry}, {"cluster", name}});
    }
  }
}

}  // namespace

bool WantedResource::Covers(absl::string_view ns) const {
  return namespaces.empty() || namespaces.contains(std::string(ns));
}

const WantedResource* Scope::Find(absl::string_view cluster, const kube::Gvr& gvr) const {
  const auto found = clusters.find(std::string(cluster));
  if (found == clusters.end()) return nullptr;
  const auto resource = found->second->resources.find(gvr);
  return resource == found->second->resources.end() ? nullptr : &resource->second;
}

struct CacheScope::Impl {
  Impl(KindResolver given_resolver, const base::Clock& given_clock)
      : clock(given_clock), kinds(std::move(given_resolver), given_clock) {}

  using Registries = std::map<std::string, RegistryFactsPtr>;
  using Clusters = std::map<std::string, kube::ObjectPtr>;
  struct Work {
    bool everything = false;
    std::set<std::string> clusters;
    bool empty() const { return !everything && clusters.empty(); }
  };

  // Waits for work, or for the time to ask for kinds again. Returns false when stopped.
  bool Take(Work& work, const base::StopToken& stop);
  void Pass(const Work& work, const base::StopToken& stop);
  // Returns whether the first scope has to wait for discovery.
  bool IsWithheld() ABSL_LOCKS_EXCLUDED(mu);
  // Brings `kinds` up to date for all registries; returns whether anything changed.
  bool Resolve(const Registries& all, const base::StopToken& stop);
  void DescribeRegistries(const Registries& all, Scope& scope) const;
  // Logs and calls the listeners, unless nothing has changed.
  void Announce(const ScopePtr& before, const ScopePtr& next) const;
  void Compute(const kube::ObjectPtr& cluster, const Registries& all, Scope& scope) const;
  static void DescribeAbsent(const Registries& all, const Clusters& members, Scope& scope);

  const base::Clock& clock;
  std::vector<Listener> listeners;
  // These three are used by Run's thread only.
  KindTable kinds;
  base::SteadyTime next_look = base::SteadyTime::InfinitePast();  // When kinds are asked for again.
  base::SteadyTime withheld_since = base::SteadyTime::InfiniteFuture();

  mutable absl::Mutex mu;
  Registries registries ABSL_GUARDED_BY(mu);
  Clusters clusters ABSL_GUARDED_BY(mu);
  Work dirty ABSL_GUARDED_BY(mu);
  bool inputs_synced ABSL_GUARDED_BY(mu) = false;
  bool synced ABSL_GUARDED_BY(mu) = false;
  ScopePtr current ABSL_GUARDED_BY(mu) = std::make_shared<Scope>();
};

bool CacheScope::Impl::Take(Work& work, const base::StopToken& stop) {
  const base::StopFlag stopped(mu, stop);
  absl::MutexLock lock(&mu);
  // A first scope that is withheld is tried again later, whatever changes meanwhile.
  const bool later = !synced && withheld_since != base::SteadyTime::InfiniteFuture();
  const auto due = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stopped.IsSet() || (inputs_synced && !dirty.empty() && !later);
  };
  const base::SteadyTime now = clock.SteadyNow();
  const base::SteadyTime again = inputs_synced ? next_look : now + kResolveAgain;
  clock.AwaitUntil(mu, absl::Condition(&due), later ? now + kResolveFirst : again);
  work = inputs_synced ? std::exchange(dirty, Work{}) : Work{};
  return !stopped.IsSet();
}

bool CacheScope::Impl::IsWithheld() {
  absl::MutexLock lock(&mu);
  if (synced) return false;
  const bool fails = kinds.AnyFails();
  if (!fails && !kinds.HasDoubts()) return false;
  const base::SteadyTime now = clock.SteadyNow();
  withheld_since = std::min(withheld_since, now);
  const bool all_fail = fails && kinds.AllFail();
  if (!all_fail && now - withheld_since >= kResolveAgain) return false;
  dirty.everything = true;
  return true;
}

bool CacheScope::Impl::Resolve(const Registries& all, const base::StopToken& stop) {
  std::set<kube::Gvk> wanted;
  for (const auto& [name, facts] : all) {
    for (const api::RegistrySelector& selector : facts->selectors) {
      if (!selector.gvk().empty()) wanted.insert(selector.gvk());
    }
  }
  const bool changed = kinds.Resolve(wanted, stop);
  next_look = clock.SteadyNow() + (kinds.HasDoubts() ? kResolveDoubted : kResolveAgain);
  return changed;
}

void CacheScope::Impl::DescribeRegistries(const Registries& all, Scope& scope) const {
  scope.registered.clear();
  scope.open_search.clear();
  scope.unresolved.clear();
  scope.undetermined.clear();
  scope.matches.clear();
  scope.malformed.clear();
  scope.without_selectors.clear();
  scope.specs.clear();
  for (const auto& [name, facts] : all) {
    scope.matches[name];
    scope.specs[name] = facts->spec;
    const absl::Status& error = facts->clusters.error();
    if (!error.ok()) scope.malformed[name] = std::string(error.message());
    if (facts->selectors.empty()) scope.without_selectors.insert(name);
    if (facts->open_search.has_value()) scope.open_search[name] = *facts->open_search;
    for (const api::RegistrySelector& selector : facts->selectors) {
      const kube::Gvk gvk = selector.gvk();
      const absl::StatusOr<kube::Resource>* kind = kinds.Find(gvk);
      if (kind == nullptr) {
        scope.unresolved[name][{"", selector.api_version, selector.kind}] =
            "apiVersion or kind is missing or malformed";
      } else if (!kind->ok()) {
        scope.unresolved[name][gvk] = std::string(kind->status().message());
        if (!absl::IsNotFound(kind->status())) scope.undetermined.insert(gvk);
      } else {
        scope.registered[(*kind)->gvr()] = **kind;
      }
    }
  }
}

void CacheScope::Impl::Compute(const kube::ObjectPtr& cluster, const Registries& all,
                               Scope& scope) const {
  const api::ClusterView view(*cluster);
  const std::string name(view.name());
  ClusterScope computed;
  computed.ready = view.IsReady();
  bool matched = false;
  for (const auto& [registry, facts] : all) {
    if (cluster->IsDeleting() || !facts->clusters.Matches(view)) {
      scope.matches[registry].erase(name);
      continue;
    }
    matched = true;
    scope.matches[registry].insert(name);
    for (const api::RegistrySelector& selector : facts->selectors) {
      const absl::StatusOr<kube::Resource>* kind = kinds.Find(selector.gvk());
      if (kind == nullptr || !kind->ok()) continue;
      if (MayHave(view, selector.gvk())) {
        Add(selector, **kind, registry, computed);
      } else {
        computed.unserved[registry].insert(selector.gvk());
      }
    }
  }
  if (!matched) {
    scope.clusters.erase(name);
    return;
  }
  std::shared_ptr<const ClusterScope>& slot = scope.clusters[name];
  // The old pointer stays when nothing has changed, so that scopes compare quickly.
  if (slot == nullptr || *slot != computed) {
    slot = std::make_shared<const ClusterScope>(std::move(computed));
  }
}

void CacheScope::Impl::DescribeAbsent(const Registries& all, const Clusters& members,
                                      Scope& scope) {
  scope.absent.clear();
  for (const auto& [registry, facts] : all) {
    for (const std::string& name : facts->clusters.names()) {
      const auto member = members.find(name);
      if (member != members.end() && !member->second->IsDeleting()) continue;
      scope.absent[registry].insert(name);
    }
  }
}

void CacheScope::Impl::Pass(const Work& work, const base::StopToken& stop) {
  Registries all;
  Clusters members;
  ScopePtr before;
  {
    absl::MutexLock lock(&mu);
    if (!inputs_synced) return;  // A part of the inputs would give a part of the scope.
    all = registries;
    members = clusters;
    before = current;
  }
  // A change of a Cluster does not have to wait for discovery.
  const bool look = work.everything || clock.SteadyNow() >= next_look;
  const bool everything = (look && Resolve(all, stop)) || work.everything;
  if (stop.stop_requested()) return;
  if (work.empty() && !everything) return;
  if (IsWithheld()) return;
  auto next = std::make_shared<Scope>(*before);
  if (everything) {
    DescribeRegistries(all, *next);
    std::erase_if(next->clusters,
                  [&](const auto& entry) { return !members.contains(entry.first); });
    for (const auto& [name, cluster] : members) Compute(cluster, all, *next);
  }
  for (const std::string& name : work.clusters) {
    const auto member = members.find(name);
    if (member != members.end()) {
      Compute(member->second, all, *next);
      continue;
    }
    next->clusters.erase(name);
    for (auto& [registry, matches] : next->matches) matches.erase(name);
  }
  DescribeAbsent(all, members, *next);
  {
    absl::MutexLock lock(&mu);
    current = next;
  }
  Announce(before, next);
  // Whoever sees this finds what the listeners have made of the scope.
  absl::MutexLock lock(&mu);
  synced = true;
}

void CacheScope::Impl::Announce(const ScopePtr& before, const ScopePtr& next) const {
  if (*before == *next) return;
  LogWhatIsNotThere(*before, *next);
  for (const Listener& listener : listeners) listener(before, next);
}

CacheScope::CacheScope(KindResolver resolver, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(resolver), clock)) {}
CacheScope::~CacheScope() = default;

void CacheScope::SetRegistry(const kube::ObjectPtr& registry) {
  absl::MutexLock lock(&impl_->mu);
  RegistryFactsPtr& facts = impl_->registries[std::string(registry->name())];
  if (facts != nullptr && facts->spec == registry->spec()) return;
  facts = FactsOf(*registry);
  impl_->dirty.everything = true;
}

void CacheScope::RemoveRegistry(absl::string_view name) {
  absl::MutexLock lock(&impl_->mu);
  if (impl_->registries.erase(std::string(name)) > 0) impl_->dirty.everything = true;
}

void CacheScope::SetCluster(const kube::ObjectPtr& cluster) {
  absl::MutexLock lock(&impl_->mu);
  kube::ObjectPtr& known = impl_->clusters[std::string(cluster->name())];
  const kube::ObjectPtr before = std::exchange(known, cluster);
  if (before != nullptr && SameForScope(*before, *cluster)) return;
  impl_->dirty.clusters.insert(std::string(cluster->name()));
}

void CacheScope::RemoveCluster(absl::string_view name) {
  absl::MutexLock lock(&impl_->mu);
  if (impl_->clusters.erase(std::string(name)) > 0) impl_->dirty.clusters.emplace(name);
}

void CacheScope::SetSynced() {
  absl::MutexLock lock(&impl_->mu);
  if (std::exchange(impl_->inputs_synced, true)) return;
  impl_->dirty.everything = true;
}

ScopePtr CacheScope::Current() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->current;
}

bool CacheScope::HasSynced() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->synced;
}

void CacheScope::Subscribe(Listener listener) { impl_->listeners.push_back(std::move(listener)); }

void CacheScope::Run(const base::StopToken& stop) {
  Impl::Work work;
  while (impl_->Take(work, stop)) impl_->Pass(work, stop);
}

}  // namespace search
