#include "interpreter/native/load_balancer.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// Sorted as upstream does: an absent member comes last among entries, first among port errors.
struct EntryKey {
  explicit EntryKey(Fields& entry)
      : hostname(entry.String("hostname")),
        ip(entry.String("ip")),
        ip_mode(entry.String("ipMode")),
        has_ip_mode(!entry.value()["ipMode"].is_null()) {}

  absl::string_view hostname, ip, ip_mode;
  bool has_ip_mode = false;

  bool operator<(const EntryKey& other) const {
    return std::make_tuple(hostname.empty(), hostname, ip, !has_ip_mode, ip_mode) <
           std::make_tuple(other.hostname.empty(), other.hostname, other.ip, !other.has_ip_mode,
                           other.ip_mode);
  }
};

struct PortKey {
  explicit PortKey(Fields& port)
      : number(port.Int("port")),
        protocol(port.String("protocol")),
        error(port.String("error")),
        has_error(!port.value()["error"].is_null()) {}

  int64_t number = 0;
  absl::string_view protocol, error;
  bool has_error = false;

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

// `Ports` is a container of PortKeys.
template <class Ports>
json::Value EntryToJson(const EntryKey& entry, const Ports& ports) {
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

std::vector<PortKey> PortsOf(Fields& entry) {
  std::vector<PortKey> ports;
  entry.Each("ports", [&](Fields& port) { ports.emplace_back(port); });
  return ports;
}

// Calls `visit` with the key and the ports of each entry of the status.
template <class Visit>
absl::Status EachEntry(const json::Value& status, Visit visit) {
  Fields fields(status, "status");
  Fields balancer = fields.In("loadBalancer");
  balancer.Each("ingress", [&](Fields& entry) { visit(EntryKey(entry), PortsOf(entry)); });
  return fields.error();
}

// Removes an ingress list without entries, which means the same as no list.
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
  const auto add = [&](const EntryKey& entry, const std::vector<PortKey>& ports) {
    entries[entry].insert(ports.begin(), ports.end());
  };
  for (const json::Value& item : items.items()) {
    RETURN_IF_ERROR(
        base::Annotate(EachEntry(item["status"], add), "cluster ", item["clusterName"].AsString()));
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
  json::Value balancer = json::Value::Object();
  const auto append = [&](const EntryKey& entry, const std::vector<PortKey>& ports) {
    balancer.Mutable("ingress").Append(EntryToJson(entry, ports));
  };
  RETURN_IF_ERROR(EachEntry(object.status(), append));
  return json::Value::Object({{"loadBalancer", std::move(balancer)}});
}

absl::StatusOr<bool> HasLoadBalancer(const kube::Object& object) {
  bool has = false;
  RETURN_IF_ERROR(
      EachEntry(object.status(), [&](const EntryKey& entry, const std::vector<PortKey>&) {
        has |= !entry.hostname.empty() || !entry.ip.empty();
      }));
  return has;
}

}  // namespace interpreter::native
