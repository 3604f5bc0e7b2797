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

// Sorted as upstream sorts: what is absent goes last among entries, first among port errors.
struct EntryKey {
  static absl::StatusOr<EntryKey> Of(const json::Value& entry) {
    Fields fields(entry, "status.loadBalancer.ingress");
    EntryKey key;
    key.hostname = fields.String("hostname");
    key.ip = fields.String("ip");
    key.ip_mode = fields.String("ipMode");
    key.has_ip_mode = entry["ipMode"].is_string();
    RETURN_IF_ERROR(fields.error());
    return key;
  }

  absl::string_view hostname, ip, ip_mode;
  bool has_ip_mode = false;

  bool operator<(const EntryKey& other) const {
    return std::make_tuple(hostname.empty(), hostname, ip, !has_ip_mode, ip_mode) <
           std::make_tuple(other.hostname.empty(), other.hostname, other.ip, !other.has_ip_mode,
                           other.ip_mode);
  }
};

struct PortKey {
  static absl::StatusOr<PortKey> Of(const json::Value& port) {
    Fields fields(port, "status.loadBalancer.ingress.ports");
    PortKey key;
    key.number = fields.Int("port");
    key.protocol = fields.String("protocol");
    key.error = fields.String("error");
    key.has_error = port["error"].is_string();
    RETURN_IF_ERROR(fields.error());
    return key;
  }

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

absl::StatusOr<absl::Span<const json::Value>> EntriesIn(const json::Value& status) {
  Fields fields(status, "status");
  Fields balancer(fields.Object("loadBalancer"), "status.loadBalancer");
  const auto entries = balancer.Array("ingress");
  RETURN_IF_ERROR(fields.error());
  RETURN_IF_ERROR(balancer.error());
  return entries;
}

absl::StatusOr<std::vector<PortKey>> PortsOf(const json::Value& entry) {
  Fields fields(entry, "status.loadBalancer.ingress");
  std::vector<PortKey> ports;
  for (const json::Value& port : fields.Array("ports")) {
    ASSIGN_OR_RETURN(const PortKey key, PortKey::Of(port));
    ports.push_back(key);
  }
  RETURN_IF_ERROR(fields.error());
  return ports;
}

absl::Status AddEntries(const json::Value& status, Entries& entries) {
  ASSIGN_OR_RETURN(const auto found, EntriesIn(status));
  for (const json::Value& entry : found) {
    ASSIGN_OR_RETURN(const EntryKey key, EntryKey::Of(entry));
    ASSIGN_OR_RETURN(const std::vector<PortKey> ports, PortsOf(entry));
    entries[key].insert(ports.begin(), ports.end());
  }
  return absl::OkStatus();
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
  ASSIGN_OR_RETURN(const auto entries, EntriesIn(object.status()));
  json::Value balancer = json::Value::Object();
  for (const json::Value& entry : entries) {
    ASSIGN_OR_RETURN(const EntryKey key, EntryKey::Of(entry));
    ASSIGN_OR_RETURN(const std::vector<PortKey> ports, PortsOf(entry));
    balancer.Mutable("ingress").Append(EntryToJson(key, ports));
  }
  return json::Value::Object({{"loadBalancer", std::move(balancer)}});
}

absl::StatusOr<bool> HasLoadBalancer(const kube::Object& object) {
  ASSIGN_OR_RETURN(const auto entries, EntriesIn(object.status()));
  bool has = false;
  for (const json::Value& entry : entries) {
    ASSIGN_OR_RETURN(const EntryKey key, EntryKey::Of(entry));
    has |= !key.hostname.empty() || !key.ip.empty();
  }
  return has;
}

}  // namespace interpreter::native
