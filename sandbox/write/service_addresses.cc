#include "sandbox/write/service_addresses.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

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

}  // namespace

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
  if (ip.empty()) ip = old_object.spec()["clusterIP"].ToString();
  if (ip.empty()) ip = IpText(kFirstIp + next_ip_++ % kIpCount);
  spec.Set("clusterIP", ip);
  spec.Set("clusterIPs", json::Value::Array({ip}));
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
