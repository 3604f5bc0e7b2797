#include "interpreter/native/load_balancer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// Sorted as upstream sorts: what is absent goes last among entries, first among port errors.
struct EntryKey {
  explicit EntryKey(const json::Value& entry)
      : hostname(entry["hostname"].AsString()),
        ip(entry["ip"].AsString()),
        ip_mode(entry["ipMode"].AsString()),
        has_ip_mode(entry["ipMode"].is_string()) {}

  absl::string_view hostname, ip, ip_mode;
  bool has_ip_mode;

  bool operator<(const EntryKey& other) const {
    return std::make_tuple(hostname.empty(), hostname, ip, !has_ip_mode, ip_mode) <
           std::make_tuple(other.hostname.empty(), other.hostname, other.ip, !other.has_ip_mode,
                           other.ip_mode);
  }
};

struct PortKey {
  explicit PortKey(const json::Value& port)
      : number(port["port"].AsInt()),
        protocol(port["protocol"].AsString()),
        error(port["error"].AsString()),
        has_error(port["error"].is_string()) {}

  int64_t number;
  absl::string_view protocol, error;
  bool has_error;

  bool operator<(const PortKey& other) const {
    return std::make_tuple(number, protocol, has_error, error) <
           std::make_tuple(other.number, other.protocol, other.has_error, other.error);
  }

  json::Value ToJson() const {
    json::Value out = json::Value::Object({{"port", number}, {"protocol", protocol}});
    if (has_error) out.Set("error", error);
    return out;
  }
};

using Entries = std::map<EntryKey, std::set<PortKey>>;

json::Value EntryToJson(const EntryKey& entry, const std::set<PortKey>& ports) {
  json::Value out = json::Value::Object();
  if (!entry.hostname.empty()) out.Set("hostname", entry.hostname);
  if (!entry.ip.empty()) out.Set("ip", entry.ip);
  if (entry.has_ip_mode) out.Set("ipMode", entry.ip_mode);
  if (!ports.empty()) {
    json::Value& list = out.Mutable("ports");
    for (const PortKey& port : ports) list.Append(port.ToJson());
  }
  return out;
}

absl::Status AddEntries(const json::Value& status, Entries& entries) {
  Fields fields(status, "status");
  const json::Value& balancer = fields.Object("loadBalancer");
  RETURN_IF_ERROR(fields.error());
  Fields balancer_fields(balancer, "status.loadBalancer");
  for (const json::Value& entry : balancer_fields.Array("ingress")) {
    std::set<PortKey>& ports = entries[EntryKey(entry)];
    for (const json::Value& port : entry["ports"].items()) ports.insert(PortKey(port));
  }
  return balancer_fields.error();
}

// A list of no entries says the same as no list.
json::Value WithoutEmptyIngress(const json::Value& status) {
  const json::Value* entries = status.FindPath({"loadBalancer", "ingress"});
  if (entries == nullptr || !entries->empty()) return status;
  json::Value out = status;
  out.Erase({"loadBalancer", "ingress"});
  return out;
}

}  // namespace

absl::StatusOr<kube::Object> AggregateLoadBalancer(const kube::Object& object,
                                                   const AggregatedItems& items) {
  Entries entries;
  for (const json::Value& item : items.items()) {
    RETURN_IF_ERROR(base::Annotate(AddEntries(item["status"], entries), "cluster ",
                                   item["clusterName"].AsString()));
  }
  json::Value balancer = json::Value::Object();
  for (const auto& [entry, ports] : entries) {
    balancer.Mutable("ingress").Append(EntryToJson(entry, ports));
  }
  json::Value status = json::Value::Object({{"loadBalancer", std::move(balancer)}});
  if (status == WithoutEmptyIngress(object.status())) return object;
  kube::Object out = object;
  out.Set({"status"}, std::move(status));
  return out;
}

absl::StatusOr<json::Value> ReflectLoadBalancer(const kube::Object& object) {
  Fields status(object.status(), "status");
  const json::Value& balancer = status.Object("loadBalancer");
  RETURN_IF_ERROR(status.error());
  return WithoutEmptyIngress(json::Value::Object(
      {{"loadBalancer", balancer.is_null() ? json::Value::Object() : balancer}}));
}

absl::StatusOr<bool> HasLoadBalancer(const kube::Object& object) {
  Fields status(object.status(), "status");
  Fields balancer(status.Object("loadBalancer"), "status.loadBalancer");
  const auto entries = balancer.Array("ingress");
  RETURN_IF_ERROR(status.error());
  RETURN_IF_ERROR(balancer.error());
  return std::any_of(entries.begin(), entries.end(), [](const json::Value& entry) {
    return !entry["hostname"].AsString().empty() || !entry["ip"].AsString().empty();
  });
}

}  // namespace interpreter::native
