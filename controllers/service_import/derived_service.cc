#include "controllers/service_import/derived_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "api/service_import.h"

namespace controllers {
namespace {

constexpr char kClusterIp[] = "ClusterIP";

void Own(const kube::Object& service_import, kube::Object& service) {
  const std::vector<kube::OwnerRef> owners = service.OwnerRefs();
  const bool is_owned = std::any_of(owners.begin(), owners.end(), [&](const kube::OwnerRef& owner) {
    return owner.uid == service_import.uid();
  });
  if (is_owned) return;
  // A reference to an earlier import of the same name has to be removed, or the garbage collector
  // would delete the Service.
  json::Value references = json::Value::Array();
  for (const json::Value& reference : service.metadata()["ownerReferences"].items()) {
    if (reference["kind"].AsString() != service_import.kind()) references.Append(reference);
  }
  references.Append(json::Value::Object({{"apiVersion", service_import.api_version()},
                                         {"kind", service_import.kind()},
                                         {"name", service_import.name()},
                                         {"uid", service_import.uid()}}));
  service.Set({"metadata", "ownerReferences"}, std::move(references));
}

bool HaveSameAddresses(const json::Value& ingress, const std::vector<std::string>& ips) {
  const auto items = ingress.items();
  return std::equal(
      items.begin(), items.end(), ips.begin(), ips.end(),
      [](const json::Value& item, const std::string& ip) { return item["ip"].AsString() == ip; });
}

}  // namespace

kube::Object DerivedService(const kube::Object& service_import, const kube::Object* existing) {
  kube::Object service =
      existing != nullptr
          ? *existing
          : kube::Object::Make(api::Services().gvk, api::DerivedServiceOf(service_import.key()));
  Own(service_import, service);
  service.Set({"spec", "type"}, kClusterIp);
  service.Set({"spec", "ports"}, api::ServiceImportView(service_import).ServicePorts());
  service.Erase({"spec", "selector"});
  return service;
}

kube::Object WithAddresses(const kube::Object& service_import, const kube::Object& service) {
  const std::vector<std::string> ips = api::ServiceImportView(service_import).Ips();
  kube::Object after = service;
  if (HaveSameAddresses(service.status()["loadBalancer"]["ingress"], ips)) return after;
  json::Value ingress = json::Value::Array();
  for (const std::string& ip : ips) ingress.Append(json::Value::Object({{"ip", ip}}));
  after.Set({"status", "loadBalancer", "ingress"}, std::move(ingress));
  if (ips.empty()) after.Erase({"status", "loadBalancer", "ingress"});
  return after;
}

bool MayBeUpstreams(const kube::Object& service) {
  return service.spec()["selector"].empty() && service.OwnerRefs().empty();
}

}  // namespace controllers
