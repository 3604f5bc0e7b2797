// What of bindings is counted as not as it should be, and since when.
#include <catch2/catch.hpp>

#include "base/json.h"
#include "base/metrics.h"
#include "controllers/binding_states/state_gauges.h"

using Catch::Contains;
using controllers::BindingState;
using controllers::StateGauges;
using controllers::StateInCluster;
using controllers::StatesOf;

namespace {

constexpr char kFine[] = R"({"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding",
  "metadata":{"name":"web","namespace":"shop","creationTimestamp":"2026-01-01T10:00:00Z"},
  "spec":{"placement":{},"clusters":[{"name":"m1"},{"name":"m2"}]},
  "status":{"conditions":[{"type":"Scheduled","status":"True"},{"type":"FullyApplied","status":"True"}],
    "aggregatedStatus":[{"clusterName":"m1","applied":true,"health":"Healthy"},
                        {"clusterName":"m2","applied":true,"health":"Healthy"}]}})";

kube::Object Fine() { return kube::Object(json::Parse(kFine).value()); }

json::Value Parsed(const char* text) { return json::Parse(text).value(); }

absl::Time At(const char* time) { return kube::ParseTime(time).value(); }

// What a binding has: "m1:not_applied".
std::vector<std::string> Names(const kube::Object& binding) {
  std::vector<std::string> names;
  for (const StateInCluster& state : StatesOf(binding)) {
    names.push_back(state.cluster + ":" + std::string(controllers::NameOf(state.state)));
  }
  return names;
}

using Strings = std::vector<std::string>;

// m2 has refused it since eleven.
kube::Object Refused() {
  kube::Object binding = Fine();
  binding.Set(
      {"status", "conditions"},
      Parsed(R"([{"type":"Scheduled","status":"True"},{"type":"FullyApplied","status":"False",
                          "lastTransitionTime":"2026-01-01T11:00:00Z"}])"));
  binding.Set({"status", "aggregatedStatus"},
              Parsed(R"([{"clusterName":"m1","applied":true},{"clusterName":"m2"}])"));
  return binding;
}

}  // namespace

TEST_CASE("Binding states: each cluster of a binding has at most one") {
  CHECK(Names(Fine()).empty());
  CHECK(Names(Refused()) == Strings{"m2:not_applied"});
  kube::Object unhealthy = Fine();
  unhealthy.Set({"status", "aggregatedStatus"},
                Parsed(R"([{"clusterName":"m1","applied":true,"health":"Unhealthy"},
                           {"clusterName":"m2","applied":true,"health":"Unknown"}])"));
  CHECK(Names(unhealthy) == Strings{"m1:unhealthy"});
  kube::Object suspended = Refused();
  suspended.Set({"spec", "suspension"}, Parsed(R"({"dispatching":true})"));
  CHECK(Names(suspended) == Strings{"m1:suspended", "m2:suspended"});
  kube::Object evicting = Fine();
  evicting.Set({"spec", "gracefulEvictionTasks"},
               Parsed(R"([{"fromCluster":"m3","creationTimestamp":"2026-01-01T11:00:00Z"}])"));
  CHECK(Names(evicting) == Strings{"m3:evicting"});
  CHECK(StatesOf(evicting)[0].since == At("2026-01-01T11:00:00Z"));
}

TEST_CASE("Binding states: a binding without a place has no cluster, and dependencies need none") {
  kube::Object binding = Fine();
  binding.Erase({"spec", "clusters"});
  binding.Erase({"status"});
  CHECK(Names(binding) == Strings{":unscheduled"});
  CHECK(StatesOf(binding)[0].since == At("2026-01-01T10:00:00Z"));
  binding.Set({"spec", "suspension"}, Parsed(R"({"scheduling":true})"));
  CHECK(Names(binding) == Strings{":suspended"});
  binding.Erase({"spec", "suspension"});
  binding.Erase({"spec", "placement"});
  CHECK(Names(binding).empty());
}

TEST_CASE("Binding states: a binding that is being deleted is not counted") {
  kube::Object binding = Refused();
  binding.Set({"metadata", "deletionTimestamp"}, "2026-01-01T11:00:00Z");
  CHECK(Names(binding).empty());
}

TEST_CASE("Binding states: gauges count bindings, and go when the last one is fine or has gone") {
  metrics::Registry registry;
  StateGauges gauges(registry);
  gauges.Count(Fine(), At("2026-01-01T11:30:00Z"), true);
  CHECK_THAT(registry.Expose(), !Contains("karmada_bindings"));
  gauges.Count(Refused(), At("2026-01-01T11:30:00Z"), true);
  kube::Object other = Refused();
  other.Set({"metadata", "name"}, "api");
  gauges.Count(other, At("2026-01-01T11:30:00Z"), true);
  CHECK_THAT(registry.Expose(),
             Contains("karmada_bindings{member_cluster=\"m2\",state=\"not_applied\"} 2\n"));
  gauges.Forget(other);
  CHECK_THAT(registry.Expose(),
             Contains("karmada_bindings{member_cluster=\"m2\",state=\"not_applied\"} 1\n"));
  gauges.Count(Fine(), At("2026-01-01T11:40:00Z"), false);
  CHECK_THAT(registry.Expose(), !Contains("karmada_bindings{"));
}

TEST_CASE("Binding states: the time is what a new binding records, and later that of the change") {
  metrics::Registry registry;
  StateGauges gauges(registry);
  // The exposition may write the number in either form.
  const auto oldest = [&] {
    return registry
        .GetGauge("karmada_bindings_oldest_timestamp_seconds", "",
                  {{"member_cluster", "m2"}, {"state", "not_applied"}})
        .Value();
  };
  gauges.Count(Refused(), At("2026-01-01T11:30:00Z"), true);
  CHECK(oldest() == absl::ToUnixSeconds(At("2026-01-01T11:00:00Z")));
  // It stays so, whatever else changes.
  gauges.Count(Refused(), At("2026-01-01T11:35:00Z"), false);
  CHECK(oldest() == absl::ToUnixSeconds(At("2026-01-01T11:00:00Z")));
  // What begins while it is watched began then: another cluster may have been first.
  gauges.Count(Fine(), At("2026-01-01T11:40:00Z"), false);
  gauges.Count(Refused(), At("2026-01-01T11:50:00Z"), false);
  CHECK(oldest() == absl::ToUnixSeconds(At("2026-01-01T11:50:00Z")));
}
