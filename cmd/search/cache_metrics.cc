// Sets the gauges when metrics are asked for, not when something changes: the caches know their
// state at any time. mu_ guards what was shown last, which is needed to remove series: of a cache
// that has ended, of a registry that was deleted, and of an error that is over.

#include "cmd/search/cache_metrics.h"

#include "absl/status/status.h"

namespace cmd {
namespace {

metrics::Labels LabelsOf(const std::string& cluster, const kube::Gvr& gvr) {
  return {{"member_cluster", cluster},
          {"group", gvr.group},
          {"version", gvr.version},
          {"resource", gvr.resource}};
}

// Returns one of few words; the messages of errors are in the conditions and in the log.
std::string ReasonOf(const absl::Status& error) {
  return error.ok() ? "" : absl::StatusCodeToString(error.code());
}

template <class Map>
double CountOf(const Map& by_registry, const std::string& registry) {
  const auto found = by_registry.find(registry);
  return found == by_registry.end() ? 0 : static_cast<double>(found->second.size());
}

}  // namespace

void CacheMetrics::ReportError(const metrics::Labels& labels, const Key& key,
                               const absl::Status& error) {
  std::string& shown = shown_[key];
  const std::string reason = ReasonOf(error);
  // At most one reason is shown at a time; the gauge of the one before is removed.
  if (shown == reason) return;
  metrics::Labels with_reason = labels;
  with_reason["reason"] = shown;
  if (!shown.empty()) parts_.registry.RemoveSeries(with_reason);
  shown = reason;
  if (reason.empty()) return;
  with_reason["reason"] = reason;
  parts_.registry
      .GetGauge(
          "karmada_search_cache_last_error",
          "1 while a resource of a cluster cannot be followed, by the kind of its last error.",
          with_reason)
      .Set(1);
}

void CacheMetrics::Report(const search::CacheState& state) {
  metrics::Registry& registry = parts_.registry;
  const metrics::Labels labels = LabelsOf(state.cluster, state.gvr);
  registry.GetGauge("karmada_search_cache_objects", "Objects in the cache.", labels)
      .Set(static_cast<double>(state.objects));
  registry
      .GetGauge("karmada_search_cache_synced",
                "1 if the resource has been listed and can be followed.", labels)
      .Set(state.synced && state.error.ok() ? 1 : 0);
  ReportError(labels, {state.cluster, state.gvr}, state.error);
  if (state.progress.at == base::SteadyTime::InfinitePast()) return;
  registry
      .GetGauge("karmada_search_cache_lag_seconds",
                "Time since the cluster last confirmed that the cache is complete.", labels)
      .Set(absl::ToDoubleSeconds(parts_.clock.SteadyNow() - state.progress.at));
}

void CacheMetrics::ReportRegistries() {
  const search::ScopePtr scope = parts_.scope.Current();
  for (const std::string& name : shown_registries_) {
    if (!scope->matches.contains(name)) parts_.registry.RemoveSeries({{"registry", name}});
  }
  shown_registries_.clear();
  for (const auto& [name, clusters] : scope->matches) {
    shown_registries_.insert(name);
    parts_.registry
        .GetGauge("karmada_search_registry_absent_clusters",
                  "Clusters that the ResourceRegistry names and that do not exist.",
                  {{"registry", name}})
        .Set(CountOf(scope->absent, name));
    parts_.registry
        .GetGauge("karmada_search_registry_unresolved_kinds",
                  "Kinds that the ResourceRegistry names and the control plane does not serve.",
                  {{"registry", name}})
        .Set(CountOf(scope->unresolved, name));
  }
}

void CacheMetrics::Update() {
  absl::MutexLock lock(&mu_);
  std::set<Key> present;
  for (const search::CacheState& state : parts_.cache.States()) {
    present.insert({state.cluster, state.gvr});
    Report(state);
  }
  std::erase_if(shown_, [&](const auto& entry) {
    const auto& [cluster, gvr] = entry.first;
    if (present.contains(entry.first)) return false;
    parts_.registry.RemoveSeries(LabelsOf(cluster, gvr));
    return true;
  });
  ReportRegistries();
}

}  // namespace cmd
