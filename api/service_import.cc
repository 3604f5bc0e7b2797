#include "api/service_import.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/endpoint_slice.h"
#include "api/resources.h"

namespace api {
namespace {

constexpr char kClusterSetIp[] = "ClusterSetIP";
constexpr char kDefaultProtocol[] = "TCP";

}  // namespace

bool ServiceImportView::IsClusterSetIp() const {
  return object_.spec()["type"].AsString() == kClusterSetIp;
}

json::Value ServiceImportView::ServicePorts() const {
  json::Value ports = json::Value::Array();
  for (const json::Value& port : object_.spec()["ports"].items()) {
    json::Value item = json::Value::Object();
    for (const char* field : {"name", "appProtocol"}) {
      if (!port[field].AsString().empty()) item.Set(field, port[field]);
    }
    const absl::string_view protocol = port["protocol"].AsString();
    item.Set("protocol", protocol.empty() ? kDefaultProtocol : protocol);
    item.Set("port", port["port"]);
    item.Set("targetPort", port["port"]);
    ports.Append(std::move(item));
  }
  return ports;
}

std::vector<std::string> ServiceImportView::Ips() const {
  std::vector<std::string> ips;
  for (const json::Value& ip : object_.spec()["ips"].items()) ips.push_back(ip.ToString());
  return ips;
}

kube::ObjectKey ServiceImportNamedBy(const kube::ObjectKey& service) {
  const std::string prefix = DerivedServiceName("");
  if (!absl::StartsWith(service.name, prefix)) return {};
  return {service.ns, service.name.substr(prefix.size())};
}

kube::ObjectKey DerivedServiceOf(const kube::ObjectKey& service_import) {
  return {service_import.ns, DerivedServiceName(service_import.name)};
}

kube::ObjectKey ServiceImportOf(const kube::Object& service) {
  const kube::Gvk& gvk = ServiceImports().gvk;
  for (const kube::OwnerRef& owner : service.OwnerRefs()) {
    const auto kind = kube::ParseGvk(owner.api_version, owner.kind);
    if (!kind.ok() || kind->group != gvk.group || kind->kind != gvk.kind) continue;
    const kube::ObjectKey key{std::string(service.ns()), owner.name};
    if (DerivedServiceOf(key) == service.key()) return key;
  }
  return {};
}

std::string message::DerivedServiceSynced(absl::string_view service_import) {
  return absl::StrCat("Sync derived service for serviceImport(", service_import, ") succeed.");
}

}  // namespace api
