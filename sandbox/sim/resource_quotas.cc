// A quota names resources; each belongs to one kind of objects, or is counted over all objects of a
// kind ("count/..."). One with scopes is about the pods in all of them only. What is used is added
// up from the stored objects each time, for a pass over a namespace as for each creation: nothing
// has to be booked, and nothing can be lost. Any change of an object queues the quotas of its
// namespace; the status is written only when it differs, so that this ends.

#include "sandbox/sim/resource_quotas.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/sim/children.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/quota_scopes.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

const kube::Gvr kQuotas{"", "v1", "resourcequotas"};

kube::Quantity QuantityOf(const json::Value& value) {
  return kube::Quantity::FromJson(value).value_or(kube::Quantity());
}

void AddPod(const kube::Object& pod, Amounts& usage) {
  for (const auto& [name, amount] : RequestsOf(pod)) {
    if (name == "pods") continue;
    usage[absl::StrCat("requests.", name)].Add(amount);
    // A quota may name the requests of these three without the prefix.
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage") usage[name].Add(amount);
  }
  for (const json::Value& container : pod.spec()["containers"].items()) {
    for (const json::Member& limit : container["resources"]["limits"].members()) {
      usage[absl::StrCat("limits.", limit.name())].Add(QuantityOf(limit.value));
    }
  }
}

void AddService(const kube::Object& service, Amounts& usage) {
  int64_t node_ports = 0;
  for (const json::Value& port : service.spec()["ports"].items()) {
    if (port["nodePort"].AsInt() != 0) ++node_ports;
  }
  if (node_ports > 0) usage["services.nodeports"] = kube::Quantity::FromInt(node_ports);
  if (service.spec()["type"].AsString() == "LoadBalancer") {
    usage["services.loadbalancers"] = kube::Quantity::FromInt(1);
  }
}

// The plural that belongs to a resource of a quota, and its group.
GroupName KindOf(absl::string_view name) {
  if (absl::ConsumePrefix(&name, "count/")) {
    const size_t dot = name.find('.');
    if (dot == absl::string_view::npos) return {"", std::string(name)};
    return {std::string(name.substr(dot + 1)), std::string(name.substr(0, dot))};
  }
  for (const char* counted : {"services", "secrets", "configmaps", "persistentvolumeclaims",
                              "replicationcontrollers", "resourcequotas"}) {
    if (name == counted) return {"", counted};
  }
  if (absl::StartsWith(name, "services.")) return {"", "services"};
  if (name == "requests.storage") return {"", "persistentvolumeclaims"};
  return {"", "pods"};
}

// Returns what the objects of the namespace use of the resources that a quota names.
absl::StatusOr<Amounts> UsedOf(Backend& backend, const kube::Object& quota) {
  const json::Value& hard = quota.spec()["hard"];
  std::set<GroupName> kinds;
  for (const json::Member& limit : hard.members()) kinds.insert(KindOf(limit.name()));
  Amounts sum;
  for (const kube::Resource& resource : backend.Resources()) {
    // Erased, so that a kind that is served in several versions is counted once.
    if (!kinds.erase({resource.gvk.group, resource.plural})) continue;
    ASSIGN_OR_RETURN(const auto objects,
                     backend.List(resource.gvr(), quota.ns(), kube::LabelSelector()));
    for (const kube::ObjectPtr& object : objects) {
      if (!IsInScopes(quota, resource, *object)) continue;
      for (const auto& [name, amount] : QuotaUsageOf(resource, *object)) sum[name].Add(amount);
    }
  }
  Amounts used;
  for (const json::Member& limit : hard.members()) {
    used[std::string(limit.name())] = sum[std::string(limit.name())];
  }
  return used;
}

json::Value ToJson(const Amounts& amounts) {
  json::Value out = json::Value::Object();
  for (const auto& [name, amount] : amounts) out.Set(name, amount.ToString());
  return out;
}

// Returns the resources that a quota counts and containers of the pod do not state, as "limits.cpu
// for: a,b; requests.cpu for: a".
std::string Unstated(const kube::Object& quota, const kube::Object& pod) {
  std::vector<std::string> missing;
  for (const json::Member& limit : quota.spec()["hard"].members()) {
    absl::string_view name = limit.name();
    const char* part = "requests";
    if (absl::ConsumePrefix(&name, "limits.")) {
      part = "limits";
    } else {
      absl::ConsumePrefix(&name, "requests.");
    }
    if (name != "cpu" && name != "memory") continue;
    std::vector<absl::string_view> containers;
    for (const json::Value& container : pod.spec()["containers"].items()) {
      if (container["resources"][part][name].is_null()) {
        containers.push_back(container["name"].AsString());
      }
    }
    if (containers.empty()) continue;
    missing.push_back(absl::StrCat(limit.name(), " for: ", absl::StrJoin(containers, ",")));
  }
  return absl::StrJoin(missing, "; ");
}

std::string Listed(const Amounts& amounts, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    const auto found = amounts.find(name);
    const kube::Quantity amount = found == amounts.end() ? kube::Quantity() : found->second;
    parts.push_back(absl::StrCat(name, "=", amount.ToString()));
  }
  return absl::StrJoin(parts, ",");
}

// Returns why the quota refuses an object that uses so much; "" when it does not.
absl::StatusOr<std::string> Refusal(Backend& backend, const kube::Object& quota,
                                    const kube::Object& object, const Amounts& wanted) {
  if (object.kind() == kinds::Pods().gvk.kind) {
    const std::string unstated = Unstated(quota, object);
    if (!unstated.empty()) {
      return absl::StrCat("failed quota: ", quota.name(), ": must specify ", unstated);
    }
  }
  Amounts limits;
  std::vector<std::string> exceeded;
  ASSIGN_OR_RETURN(const Amounts used, UsedOf(backend, quota));
  for (const json::Member& limit : quota.spec()["hard"].members()) {
    const std::string name(limit.name());
    limits[name] = QuantityOf(limit.value);
    const auto more = wanted.find(name);
    if (more == wanted.end() || more->second.IsZero()) continue;
    kube::Quantity sum = used.at(name);
    sum.Add(more->second);
    if (limits[name] < sum) exceeded.push_back(name);
  }
  if (exceeded.empty()) return std::string();
  return absl::StrCat("exceeded quota: ", quota.name(), ", requested: ", Listed(wanted, exceeded),
                      ", used: ", Listed(used, exceeded), ", limited: ", Listed(limits, exceeded));
}

}  // namespace

Amounts QuotaUsageOf(const kube::Resource& resource, const kube::Object& object) {
  Amounts usage;
  const GroupName name{resource.gvk.group, resource.plural};
  usage[absl::StrCat("count/", name.ToString())] = kube::Quantity::FromInt(1);
  if (!name.group.empty()) return usage;
  if (resource.gvk == kinds::Pods().gvk) {
    // A pod that has finished is counted by count/pods alone.
    if (!IsActivePod(object)) return usage;
    usage["pods"] = kube::Quantity::FromInt(1);
    AddPod(object, usage);
    return usage;
  }
  usage[name.name] = kube::Quantity::FromInt(1);
  if (name.name == "services") AddService(object, usage);
  if (name.name == "persistentvolumeclaims") {
    usage["requests.storage"] = QuantityOf(object.spec()["resources"]["requests"]["storage"]);
  }
  return usage;
}

ResourceQuotas::ResourceQuotas(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("resourcequota", backend, loop,
                  [this](const kube::ObjectKey& ns) { return Reconcile(ns); }) {
  controller_.Watch({}, [this](const Event& event) {
    if (!event.object->ns().empty()) controller_.Enqueue({"", std::string(event.object->ns())});
  });
}

absl::Status ResourceQuotas::Reconcile(const kube::ObjectKey& ns) {
  ASSIGN_OR_RETURN(const auto quotas, backend_.List(kQuotas, ns.name, kube::LabelSelector()));
  for (const kube::ObjectPtr& quota : quotas) {
    if (quota->IsDeleting()) continue;
    ASSIGN_OR_RETURN(const Amounts used, UsedOf(backend_, *quota));
    json::Value status = quota->status();
    status.Set("hard", quota->spec()["hard"]);
    status.Set("used", ToJson(used));
    RETURN_IF_ERROR(WriteStatus(backend_, kQuotas, *quota, std::move(status)));
  }
  return absl::OkStatus();
}

AdmissionHook ResourceQuotaAdmission(Backend& backend) {
  return [&backend](const AdmissionRequest& request, kube::Object& object) -> absl::Status {
    const bool is_creation = request.verb == Verbs::kCreate && request.subresource.empty();
    if (!is_creation || object.ns().empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const auto quotas, backend.List(kQuotas, object.ns(), kube::LabelSelector()));
    if (quotas.empty()) return absl::OkStatus();
    const Amounts wanted = QuotaUsageOf(request.resource, object);
    for (const kube::ObjectPtr& quota : quotas) {
      if (!IsInScopes(*quota, request.resource, object)) continue;
      ASSIGN_OR_RETURN(const std::string why, Refusal(backend, *quota, object, wanted));
      if (why.empty()) continue;
      const GroupName resource{request.resource.gvk.group, request.resource.plural};
      return Forbidden(resource, object.name(), why);
    }
    return absl::OkStatus();
  };
}

}  // namespace sandbox
