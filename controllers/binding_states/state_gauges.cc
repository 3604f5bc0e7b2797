#include "controllers/binding_states/state_gauges.h"

#include <algorithm>

namespace controllers {

void StateGauges::Count(const kube::Object& binding, absl::Time now, bool is_new) {
  Times times;
  const std::vector<StateInCluster> states = StatesOf(binding);
  const std::string name = binding.Describe();
  absl::MutexLock lock(&mu_);
  const auto before = times_.find(name);
  if (states.empty() && before == times_.end()) return;  // Most are fine, and stay so.
  for (const StateInCluster& state : states) {
    const Place place{state.cluster, state.state};
    const bool records_it =
        state.since != absl::InfinitePast() && (is_new || state.state != BindingState::kNotApplied);
    absl::Time since = records_it ? std::min(state.since, now) : now;
    if (before != times_.end()) {
      const auto known = before->second.find(place);
      if (known != before->second.end()) since = known->second;
    }
    times[place] = since;
  }
  Replace(name, std::move(times));
}

void StateGauges::Forget(const kube::Object& binding) {
  absl::MutexLock lock(&mu_);
  Replace(binding.Describe(), {});
}

void StateGauges::Replace(const std::string& binding, Times times) {
  std::set<Place> changed;
  const auto before = times_.find(binding);
  if (before != times_.end()) {
    for (const auto& [place, since] : before->second) {
      const auto now = times.find(place);
      if (now != times.end() && now->second == since) continue;
      std::multiset<absl::Time>& all = places_[place];
      const auto found = all.find(since);
      if (found != all.end()) all.erase(found);
      changed.insert(place);
    }
  }
  for (const auto& [place, since] : times) {
    const bool is_known = before != times_.end() && before->second.count(place) > 0 &&
                          before->second.at(place) == since;
    if (is_known) continue;
    places_[place].insert(since);
    changed.insert(place);
  }
  if (times.empty()) {
    times_.erase(binding);
  } else {
    times_[binding] = std::move(times);
  }
  for (const Place& place : changed) Show(place);
}

void StateGauges::Show(const Place& place) {
  const metrics::Labels labels = {{"member_cluster", place.first},
                                  {"state", std::string(NameOf(place.second))}};
  const auto found = places_.find(place);
  if (found == places_.end() || found->second.empty()) {
    places_.erase(place);
    registry_.RemoveSeries(labels);
    return;
  }
  registry_
      .GetGauge("karmada_bindings",
                "Bindings that are not as they should be, by cluster and state.", labels)
      .Set(static_cast<double>(found->second.size()));
  registry_
      .GetGauge("karmada_bindings_oldest_timestamp_seconds",
                "Since when the oldest of them is so, in seconds since the epoch.", labels)
      .Set(static_cast<double>(absl::ToUnixSeconds(*found->second.begin())));
}

}  // namespace controllers
