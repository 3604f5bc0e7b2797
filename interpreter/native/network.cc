// Service, Ingress, ServiceImport.

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "interpreter/native/handler_table.h"
#include "interpreter/native/load_balancer.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

absl::StatusOr<bool> IsLoadBalancer(const kube::Object& service) {
  Fields spec(service.spec(), "spec");
  const bool is = spec.String("type") == "LoadBalancer";
  RETURN_IF_ERROR(spec.error());
  return is;
}

// Argo Rollouts writes both into the Services of a Rollout, and takes both away when no Rollout
// names the Service any more (rollout/service.go and service/service.go of its v1.9.1).
constexpr char kManagedByRollouts[] = "argo-rollouts.argoproj.io/managed-by-rollouts";
constexpr char kRolloutPodHash[] = "rollouts-pod-template-hash";

// Retains the part of the selector that directs a Rollout's traffic to one of its ReplicaSets.
absl::Status RetainRolloutPodHash(const kube::Object& observed, kube::Object& retained) {
  if (observed.Annotation(kManagedByRollouts).empty()) return absl::OkStatus();
  Fields spec(observed.spec(), "spec");
  Fields selector = spec.In("selector");
  const absl::string_view hash = selector.String(kRolloutPodHash);
  RETURN_IF_ERROR(spec.error());
  if (hash.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(json::FindObject(retained.root(), {"spec", "selector"}).status());
  retained.Set({"spec", "selector", kRolloutPodHash}, hash);
  return absl::OkStatus();
}

// Others write into the spec of a Service in a member:
//   clusterIP             the API server, which cannot change it any more
//   healthCheckNodePort   the API server, as long as externalTrafficPolicy is Local
//   loadBalancerClass     a webhook, when the Service is created; it cannot be taken away
//   selector              Argo Rollouts: the hash of the ReplicaSet that gets the traffic
absl::StatusOr<kube::Object> RetainService(const kube::Object& desired,
                                           const kube::Object& observed) {
  Fields spec(observed.spec(), "spec");
  const int64_t port = spec.Int("healthCheckNodePort");
  const absl::string_view address = spec.String("clusterIP");
  RETURN_IF_ERROR(spec.error());
  RETURN_IF_ERROR(json::FindObject(desired.root(), {"spec"}).status());
  kube::Object retained = desired;
  if (port > 0) retained.Set({"spec", "healthCheckNodePort"}, port);
  if (!address.empty()) retained.Set({"spec", "clusterIP"}, address);
  if (desired.spec()["type"] == "LoadBalancer") {
    RetainFilledIn(observed, "loadBalancerClass", retained);
  }
  RETURN_IF_ERROR(RetainRolloutPodHash(observed, retained));
  return retained;
}

using Paths = std::vector<json::Value>;

// Returns whether cert-manager has put the path into the Ingress to answer a challenge, as it does
// with the annotation acme.cert-manager.io/http01-edit-in-place or a solver that names the Ingress
// (pkg/issuer/acme/http/ingress.go of its v1.20).
bool IsOfChallenge(const json::Value& path) {
  const absl::string_view service = path.Get({"backend", "service", "name"}).AsString();
  return absl::StartsWith(path["path"].AsString(), "/.well-known/acme-challenge/") &&
         absl::StartsWith(service, "cm-acme-http-solver-");
}

// Returns the rule with the paths of challenges before its own, as cert-manager writes them; they
// take the place of its own with the same path.
json::Value WithChallenges(const json::Value& rule, Paths paths) {
  absl::flat_hash_set<std::string> taken;
  for (const json::Value& path : paths) taken.insert(path["path"].ToString());
  for (const json::Value& path : rule.Get({"http", "paths"}).items()) {
    if (!taken.contains(path["path"].ToString())) paths.push_back(path);
  }
  json::Value out = rule;
  out.Set({"http", "paths"}, json::Value::OfItems(std::move(paths)));
  return out;
}

// Retains the paths of challenges until cert-manager takes them away: in the first rule of their
// host, or in a rule of their own.
void RetainChallenges(const kube::Object& observed, kube::Object& retained) {
  absl::flat_hash_map<std::string, Paths> by_host;
  std::vector<std::string> hosts;  // In the order in which the member has them.
  for (const json::Value& rule : observed.spec()["rules"].items()) {
    for (const json::Value& path : rule.Get({"http", "paths"}).items()) {
      if (!IsOfChallenge(path)) continue;
      Paths& paths = by_host[rule["host"].ToString()];
      if (paths.empty()) hosts.push_back(rule["host"].ToString());
      paths.push_back(path);
    }
  }
  if (by_host.empty()) return;
  std::vector<json::Value> rules;
  for (const json::Value& rule : retained.spec()["rules"].items()) {
    auto challenges = by_host.extract(rule["host"].ToString());
    rules.push_back(challenges.empty() ? rule
                                       : WithChallenges(rule, std::move(challenges.mapped())));
  }
  for (const std::string& host : hosts) {
    auto challenges = by_host.extract(host);
    if (challenges.empty()) continue;
    json::Value rule = json::Value::Object();
    if (!host.empty()) rule.Set("host", host);
    rules.push_back(WithChallenges(rule, std::move(challenges.mapped())));
  }
  retained.Set({"spec", "rules"}, json::Value::OfItems(std::move(rules)));
}

// Others write into the spec of an Ingress in a member:
//   ingressClassName   the admission of default classes, when the Ingress is created and never
//                      again: without it no controller would serve the Ingress any more
//   rules              cert-manager, as long as a challenge lasts
absl::StatusOr<kube::Object> RetainIngress(const kube::Object& desired,
                                           const kube::Object& observed) {
  RETURN_IF_ERROR(json::FindObject(desired.root(), {"spec"}).status());
  kube::Object retained = desired;
  RetainFilledIn(observed, "ingressClassName", retained);
  RetainChallenges(observed, retained);
  return retained;
}

absl::StatusOr<kube::Object> AggregateService(const kube::Object& object,
                                              const AggregatedItems& items, absl::Time) {
  ASSIGN_OR_RETURN(const bool balances, IsLoadBalancer(object));
  if (!balances) return object;
  return AggregateLoadBalancer(object, items);
}

absl::StatusOr<json::Value> ReflectService(const kube::Object& object) {
  // A type that cannot be read counts as another type.
  if (!IsLoadBalancer(object).value_or(false)) return json::Value();
  return ReflectLoadBalancer(object);
}

// Returns whether the object has the address at which clients reach it.
absl::StatusOr<Health> AddressHealth(const kube::Object& object) {
  ASSIGN_OR_RETURN(const bool has_address, HasLoadBalancer(object));
  if (has_address) return true;
  return Health(false, "status.loadBalancer has no address yet");
}

absl::StatusOr<Health> ServiceHealth(const kube::Object& object) {
  ASSIGN_OR_RETURN(const bool balances, IsLoadBalancer(object));
  if (!balances) return true;
  return AddressHealth(object);
}

absl::StatusOr<kube::Object> AggregateIngress(const kube::Object& object,
                                              const AggregatedItems& items, absl::Time) {
  return AggregateLoadBalancer(object, items);
}

// Returns the secrets of the certificates. An entry without a secret makes the whole list an error,
// as upstream (the chain checks names).
absl::StatusOr<json::Value> IngressDependencies(const kube::Object& object) {
  json::Value out;
  Fields spec(object.spec(), "spec");
  spec.Each("tls", [&](Fields& tls) {
    json::Value reference = json::Value::Object({{"apiVersion", "v1"}, {"kind", "Secret"}});
    if (!object.ns().empty()) reference.Set("namespace", object.ns());
    const absl::string_view name = tls.String("secretName");
    if (!name.empty()) reference.Set("name", name);
    out.Append(std::move(reference));
  });
  RETURN_IF_ERROR(spec.error());
  return out;
}

// Returns the Service derived from the import, and its EndpointSlices.
absl::StatusOr<json::Value> ServiceImportDependencies(const kube::Object& object) {
  const std::string derived = absl::StrCat("derived-", object.name());
  json::Value service =
      json::Value::Object({{"apiVersion", "v1"}, {"kind", "Service"}, {"name", derived}});
  json::Value slices = json::Value::Object(
      {{"apiVersion", "discovery.k8s.io/v1"},
       {"kind", "EndpointSlice"},
       {"labelSelector",
        json::Value::Object(
            {{"matchLabels", json::Value::Object({{"kubernetes.io/service-name", derived}})}})}});
  if (!object.ns().empty()) {
    service.Set("namespace", object.ns());
    slices.Set("namespace", object.ns());
  }
  return json::Value::Array({std::move(service), std::move(slices)});
}

}  // namespace

void RegisterNetwork(HandlerTable& table) {
  table.Add({"", "v1", "Service"}, {.retain = RetainService,
                                    .aggregate_status = AggregateService,
                                    .reflect_status = ReflectService,
                                    .interpret_health = ServiceHealth});
  table.Add({"networking.k8s.io", "v1", "Ingress"}, {.retain = RetainIngress,
                                                     .aggregate_status = AggregateIngress,
                                                     .get_dependencies = IngressDependencies,
                                                     .interpret_health = AddressHealth});
  table.Add({"multicluster.x-k8s.io", "v1alpha1", "ServiceImport"},
            {.get_dependencies = ServiceImportDependencies});
}

}  // namespace interpreter::native
