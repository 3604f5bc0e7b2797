// All three functions walk status.loadBalancer.ingress as Go decodes it (Fields), and stop at the
// first value of a wrong type, with the cluster in the message. The aggregation collects the
// entries of all members in a map, which makes equal entries one and gives them upstream's order,
// whatever the order of clusters; the ports of equal entries are united in the same way. An object
// whose status says this already is returned as it is, so that no write follows. No state.

#include "interpreter/native/load_balancer.h"

#include <arpa/inet.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// Sorted as upstream does: an absent member comes last among entries, first among port errors.
struct EntryKey {
  explicit EntryKey(Fields& entry)
      : hostname(entry.String("hostname")),
        ip(std::string(entry.String("ip"))),
        ip_mode(entry.String("ipMode")),
        has_ip_mode(!entry.value()["ipMode"].is_null()) {}

  absl::string_view hostname;
  std::string ip;
  absl::string_view ip_mode;
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

// Returns the address as servers since v1.36 take it: IPv4 without leading zeros, and not inside an
// IPv6 address (parseIP of apimachinery's pkg/util/validation/ip.go). Older servers, which a
// cluster may have, take both.
std::string StrictAddress(const std::string& ip) {
  in6_addr v6;
  if (inet_pton(AF_INET6, ip.c_str(), &v6) == 1 && IN6_IS_ADDR_V4MAPPED(&v6)) {
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &v6.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  std::vector<std::string> octets = absl::StrSplit(ip, '.');
  if (octets.size() != 4) return ip;
  for (std::string& octet : octets) {
    int value = 0;
    if (!absl::SimpleAtoi(octet, &value)) return ip;
    octet = absl::StrCat(value);
  }
  return absl::StrJoin(octets, ".");
}

}  // namespace

absl::StatusOr<kube::Object> AggregateLoadBalancer(const kube::Object& object,
                                                   const AggregatedItems& items) {
  // No server refuses an address that the status has already, in whatever form.
  std::set<std::string> present;
  RETURN_IF_ERROR(EachEntry(
      object.status(),
      [&](const EntryKey& entry, const std::vector<PortKey>&) { present.insert(entry.ip); }));
  Entries entries;
  const auto add = [&](EntryKey entry, const std::vector<PortKey>& ports) {
    if (present.count(entry.ip) == 0) entry.ip = StrictAddress(entry.ip);
    entries[std::move(entry)].insert(ports.begin(), ports.end());
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
