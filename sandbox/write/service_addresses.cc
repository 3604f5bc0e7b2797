#include "sandbox/write/service_addresses.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kinds/default_to.h"

namespace sandbox {
namespace {

constexpr uint32_t kFirstIp = (10u << 24) | (96u << 16) | 10;  // 10.96.0.10
constexpr uint32_t kIpCount = (1u << 20) - 16;  // The number of addresses of 10.96.0.0/12.
constexpr int kFirstNodePort = 30000;
constexpr int kNodePortCount = 2768;

std::string IpText(uint32_t ip) {
  return absl::StrCat(ip >> 24, ".", (ip >> 16) & 255, ".", (ip >> 8) & 255, ".", ip & 255);
}

bool NeedsNodePorts(absl::string_view type, const json::Value& spec) {
  if (type == "NodePort") return true;
  return type == "LoadBalancer" && spec["allocateLoadBalancerNodePorts"].AsBool(true);
}

// Returns the node port that the old Service had for the port of this number and protocol.
int64_t OldNodePort(const json::Value& old_ports, const json::Value& port) {
  for (const json::Value& old_port : old_ports.items()) {
    if (old_port["port"] == port["port"] && old_port["protocol"] == port["protocol"]) {
      return old_port["nodePort"].AsInt();
    }
  }
  return 0;
}

// Returns "30080/TCP"; "" for a port without a node port.
std::string NodePortOf(const json::Value& port) {
  if (port["nodePort"].AsInt() == 0) return "";
  const absl::string_view protocol = port["protocol"].AsString();
  return absl::StrCat(port["nodePort"].AsInt(), "/", protocol.empty() ? "TCP" : protocol);
}

std::string IpOf(const kube::Object& service) {
  const std::string ip = service.spec()["clusterIP"].ToString();
  return ip == "None" ? "" : ip;
}

std::set<std::string> NodePortsOf(const kube::Object& service) {
  std::set<std::string> ports;
  const json::Value all = service.spec()["ports"];
  for (const json::Value& port : all.items()) ports.insert(NodePortOf(port));
  return ports;
}

}  // namespace

void ServiceAddresses::CheckFree(const kube::Object& old_object, const kube::Object& service,
                                 const std::function<Services()>& stored, FieldErrors& errors) {
  std::set<std::string> ports = NodePortsOf(service);
  for (const std::string& own : NodePortsOf(old_object)) ports.erase(own);
  ports.erase("");
  const std::string ip = IpOf(service) == IpOf(old_object) ? "" : IpOf(service);
  if (ports.empty() && ip.empty()) return;
  std::set<std::string> taken;
  for (const kube::ObjectPtr& other : stored()) {
    // Somebody may have changed it since; then this write finds the conflict, and is tried again.
    if (!old_object.name().empty() && other->key() == service.key()) continue;
    taken.merge(NodePortsOf(*other));
    if (!ip.empty() && IpOf(*other) == ip) {
      errors.InvalidText(
          "spec.clusterIPs", absl::StrCat("[]string{\"", ip, "\"}"),
          absl::StrCat("failed to allocate IP ", ip, ": provided IP is already allocated"));
    }
  }
  const json::Value all = service.spec()["ports"];
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string port = NodePortOf(all.At(i));
    if (ports.count(port) == 0 || taken.count(port) == 0) continue;
    errors.Invalid(absl::StrCat("spec.ports[", i, "].nodePort"), all.At(i)["nodePort"],
                   "provided port is already allocated");
  }
}

void ServiceAddresses::Fill(const kube::Object& old_object, kube::Object& service) {
  json::Value& spec = service.mutable_root().Mutable("spec");
  const std::string type = spec["type"].ToString();
  if (type == "ExternalName") {
    spec.Erase("clusterIP");
    spec.Erase("clusterIPs");
    return;
  }
  absl::MutexLock lock(&mu_);
  std::string ip = spec["clusterIP"].ToString();
  // A client that writes the whole object without the addresses keeps them, as in Kubernetes.
  if (ip.empty()) ip = old_object.spec()["clusterIP"].ToString();
  if (ip.empty()) ip = IpText(kFirstIp + next_ip_++ % kIpCount);
  spec.Set("clusterIP", ip);
  spec.Set("clusterIPs", json::Value::Array({ip}));
  DefaultTo(spec, "ipFamilies", json::Value::Array({"IPv4"}));
  DefaultTo(spec, "ipFamilyPolicy", "SingleStack");
  if (!NeedsNodePorts(type, spec)) return;
  const json::Value old_ports = old_object.spec()["ports"];
  for (size_t i = 0; i < spec["ports"].size(); ++i) {
    json::Value& port = spec.Mutable("ports").MutableAt(i);
    if (port["nodePort"].AsInt() != 0) continue;
    int64_t number = OldNodePort(old_ports, port);
    if (number == 0) number = kFirstNodePort + next_port_++ % kNodePortCount;
    port.Set("nodePort", number);
  }
}

}  // namespace sandbox
