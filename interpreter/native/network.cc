// Service, Ingress, ServiceImport.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

// Retains the addresses and ports that the member gave the Service, the class of load balancer that
// a webhook of the member chose (it cannot be taken away), and what a Rollout selects.
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

// Returns whether cert-manager has put the path there, to answer a challenge of an ACME server
// (ingressPath in its pkg/issuer/acme/http/ingress.go, v1.18).
bool IsOfChallenge(const json::Value& path) {
  const absl::string_view service = path.Get({"backend", "service", "name"}).AsString();
  return absl::StartsWith(path["path"].AsString(), "/.well-known/acme-challenge/") &&
         absl::StartsWith(service, "cm-acme-http-solver-");
}

// Returns the rule with those paths of challenges before its own that it does not have.
json::Value WithChallenges(const json::Value& rule, const std::vector<json::Value>& challenges) {
  std::vector<json::Value> paths = challenges;
  for (const json::Value& path : rule.Get({"http", "paths"}).items()) {
    const auto same = [&](const json::Value& other) { return other["path"] == path["path"]; };
    if (std::none_of(challenges.begin(), challenges.end(), same)) paths.push_back(path);
  }
  json::Value out = rule;
  out.Set({"http", "paths"}, json::Value::OfItems(std::move(paths)));
  return out;
}

// Retains the paths by which cert-manager answers challenges in an Ingress that exists (its
// annotation http01-edit-in-place, or a solver with the name of the Ingress), for as long as they
// are there.
void RetainChallenges(const kube::Object& observed, kube::Object& retained) {
  absl::flat_hash_map<absl::string_view, std::vector<json::Value>> by_host;
  for (const json::Value& rule : observed.spec()["rules"].items()) {
    for (const json::Value& path : rule.Get({"http", "paths"}).items()) {
      if (IsOfChallenge(path)) by_host[rule["host"].AsString()].push_back(path);
    }
  }
  if (by_host.empty()) return;
  std::vector<json::Value> rules;
  for (const json::Value& rule : retained.spec()["rules"].items()) {
    const auto found = by_host.find(rule["host"].AsString());
    rules.push_back(found == by_host.end() ? rule : WithChallenges(rule, found->second));
    if (found != by_host.end()) by_host.erase(found);
  }
  for (const json::Value& rule : observed.spec()["rules"].items()) {
    const auto found = by_host.find(rule["host"].AsString());
    if (found == by_host.end()) continue;
    const json::Value host = json::Value::Object({{"host", rule["host"]}});
    rules.push_back(WithChallenges(host, found->second));
    by_host.erase(found);
  }
  retained.Set({"spec", "rules"}, json::Value::OfItems(std::move(rules)));
}

// Others write into an Ingress in a member: the admission of IngressClasses gives one without a
// class the default one when it is created, and never again, and without it no controller would
// serve the Ingress any more; cert-manager adds and removes paths of challenges.
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
