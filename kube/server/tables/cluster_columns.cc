// Columns of the kinds that make up a cluster: namespaces, nodes, services, storage, events.

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/server/tables/builtin_columns.h"
#include "kube/server/tables/table_output.h"

namespace kube::server {
namespace {

using Cells = std::vector<json::Value>;

Cells NamespaceRow(const kube::Object& o, absl::Time now) {
  return {o.status()["phase"].ToString(), AgeCell(o, now)};
}

std::string NodeStatus(const kube::Object& o) {
  std::string status = "Unknown";
  if (const json::Value* ready = kube::FindCondition(o.status()["conditions"], "Ready")) {
    status = (*ready)["status"].AsString() == "True" ? "Ready" : "NotReady";
  }
  return o.spec()["unschedulable"].AsBool() ? status + ",SchedulingDisabled" : status;
}

std::string NodeRoles(const kube::Object& o) {
  constexpr absl::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const json::Member& label : o.labels().members()) {
    if (absl::StartsWith(label.name(), kPrefix)) {
      roles.emplace_back(label.name().substr(kPrefix.size()));
    }
  }
  return roles.empty() ? "<none>" : absl::StrJoin(roles, ",");
}

std::string NodeAddress(const kube::Object& o, absl::string_view type) {
  for (const json::Value& address : o.status()["addresses"].items()) {
    if (address["type"].AsString() == type) return address["address"].ToString();
  }
  return "<none>";
}

Cells NodeRow(const kube::Object& o, absl::Time now) {
  const json::Value& info = o.status()["nodeInfo"];
  return {NodeStatus(o),
          NodeRoles(o),
          AgeCell(o, now),
          info["kubeletVersion"].ToString(),
          NodeAddress(o, "InternalIP"),
          NodeAddress(o, "ExternalIP"),
          TextOr(info["osImage"], "<unknown>"),
          TextOr(info["kernelVersion"], "<unknown>"),
          TextOr(info["containerRuntimeVersion"], "<unknown>")};
}

std::string ServicePorts(const kube::Object& o) {
  std::vector<std::string> ports;
  for (const json::Value& port : o.spec()["ports"].items()) {
    const int64_t node_port = port["nodePort"].AsInt();
    ports.push_back(absl::StrCat(port["port"].AsInt(),
                                 node_port == 0 ? "" : absl::StrCat(":", node_port), "/",
                                 port["protocol"].AsString("TCP")));
  }
  return ports.empty() ? "<none>" : absl::StrJoin(ports, ",");
}

std::string ServiceExternal(const kube::Object& o) {
  const absl::string_view type = o.spec()["type"].AsString();
  if (type == "ExternalName") return o.spec()["externalName"].ToString();
  std::vector<std::string> ips;
  for (const json::Value& ingress : o.status()["loadBalancer"]["ingress"].items()) {
    ips.push_back(ingress["ip"].AsString().empty() ? ingress["hostname"].ToString()
                                                   : ingress["ip"].ToString());
  }
  for (const json::Value& ip : o.spec()["externalIPs"].items()) ips.push_back(ip.ToString());
  if (!ips.empty()) return absl::StrJoin(ips, ",");
  return type == "LoadBalancer" ? "<pending>" : "<none>";
}

Cells ServiceRow(const kube::Object& o, absl::Time now) {
  return {TextOr(o.spec()["type"], "ClusterIP"),
          TextOr(o.spec()["clusterIP"], "<none>"),
          ServiceExternal(o),
          ServicePorts(o),
          AgeCell(o, now),
          LabelsText(o.spec()["selector"])};
}

Cells IngressRow(const kube::Object& o, absl::Time now) {
  std::vector<std::string> hosts;
  for (const json::Value& rule : o.spec()["rules"].items()) {
    if (!rule["host"].AsString().empty()) hosts.push_back(rule["host"].ToString());
  }
  std::vector<std::string> addresses;
  for (const json::Value& ingress : o.status()["loadBalancer"]["ingress"].items()) {
    addresses.push_back(TextOr(ingress["ip"], ingress["hostname"].ToString().c_str()));
  }
  return {TextOr(o.spec()["ingressClassName"], "<none>"),
          hosts.empty() ? "*" : absl::StrJoin(hosts, ","), absl::StrJoin(addresses, ","),
          o.spec()["tls"].empty() ? "80" : "80, 443", AgeCell(o, now)};
}

// Returns the time of the newest occurrence, for events of both APIs.
const json::Value& EventTime(const kube::Object& o) {
  if (!o.root()["lastTimestamp"].is_null()) return o.root()["lastTimestamp"];
  if (!o.root()["series"]["lastObservedTime"].is_null()) {
    return o.root()["series"]["lastObservedTime"];
  }
  return o.root()["eventTime"];
}

std::string EventObject(const kube::Object& o) {
  const json::Value& about =
      o.root().Has("involvedObject") ? o.root()["involvedObject"] : o.root()["regarding"];
  std::string kind = about["kind"].ToString();
  for (char& c : kind) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return absl::StrCat(kind, "/", about["name"].AsString());
}

std::string EventSource(const kube::Object& o) {
  const json::Value& source = o.root()["source"];
  const std::string host = source["host"].ToString();
  const std::string component =
      TextOr(source["component"], o.root()["reportingComponent"].ToString().c_str());
  return host.empty() ? component : absl::StrCat(component, ", ", host);
}

Cells EventRow(const kube::Object& o, absl::Time now) {
  const json::Value& last = EventTime(o);
  const json::Value& first =
      o.root()["firstTimestamp"].is_null() ? o.root()["eventTime"] : o.root()["firstTimestamp"];
  const int64_t count = o.root()["count"].AsInt(o.root()["series"]["count"].AsInt(1));
  const std::string message = TextOr(o.root()["message"], o.root()["note"].ToString().c_str());
  return {AgeOf(last, now),
          o.root()["type"].ToString(),
          o.root()["reason"].ToString(),
          EventObject(o),
          o.root()["involvedObject"]["fieldPath"].ToString(),
          EventSource(o),
          message,
          AgeOf(first, now),
          absl::StrCat(count),
          o.name()};
}

Cells EndpointsRow(const kube::Object& o, absl::Time now) {
  std::vector<std::string> all;
  for (const json::Value& subset : o.root()["subsets"].items()) {
    for (const json::Value& address : subset["addresses"].items()) {
      for (const json::Value& port : subset["ports"].items()) {
        all.push_back(absl::StrCat(address["ip"].AsString(), ":", port["port"].AsInt()));
      }
    }
  }
  return {all.empty() ? "<none>" : absl::StrJoin(all, ","), AgeCell(o, now)};
}

Cells EndpointSliceRow(const kube::Object& o, absl::Time now) {
  std::vector<std::string> ports, endpoints;
  for (const json::Value& p : o.root()["ports"].items()) {
    ports.push_back(absl::StrCat(p["port"].AsInt()));
  }
  for (const json::Value& e : o.root()["endpoints"].items()) {
    for (const json::Value& address : e["addresses"].items())
      endpoints.push_back(address.ToString());
  }
  return {o.root()["addressType"].ToString(), ports.empty() ? "<unset>" : absl::StrJoin(ports, ","),
          endpoints.empty() ? "<unset>" : absl::StrJoin(endpoints, ","), AgeCell(o, now)};
}

std::string AccessModes(const json::Value& modes) {
  std::vector<std::string> out;
  for (const json::Value& mode : modes.items()) {
    const absl::string_view m = mode.AsString();
    if (m == "ReadWriteOnce") out.push_back("RWO");
    if (m == "ReadOnlyMany") out.push_back("ROX");
    if (m == "ReadWriteMany") out.push_back("RWX");
    if (m == "ReadWriteOncePod") out.push_back("RWOP");
  }
  return absl::StrJoin(out, ",");
}

std::string PhaseOf(const kube::Object& o) {
  return o.IsDeleting() ? "Terminating" : o.status()["phase"].ToString();
}

Cells ClaimRow(const kube::Object& o, absl::Time now) {
  return {PhaseOf(o),
          o.spec()["volumeName"].ToString(),
          o.status()["capacity"]["storage"].ToString(),
          AccessModes(o.spec()["accessModes"]),
          o.spec()["storageClassName"].ToString(),
          TextOr(o.spec()["volumeAttributesClassName"], "<unset>"),
          AgeCell(o, now),
          TextOr(o.spec()["volumeMode"], "<unset>")};
}

Cells VolumeRow(const kube::Object& o, absl::Time now) {
  const json::Value& claim = o.spec()["claimRef"];
  return {o.spec()["capacity"]["storage"].ToString(),
          AccessModes(o.spec()["accessModes"]),
          o.spec()["persistentVolumeReclaimPolicy"].ToString(),
          PhaseOf(o),
          claim.is_object()
              ? absl::StrCat(claim["namespace"].AsString(), "/", claim["name"].AsString())
              : "",
          o.spec()["storageClassName"].ToString(),
          TextOr(o.spec()["volumeAttributesClassName"], "<unset>"),
          o.status()["reason"].ToString(),
          AgeCell(o, now),
          TextOr(o.spec()["volumeMode"], "<unset>")};
}

}  // namespace

std::vector<BuiltinColumns> ClusterColumns() {
  const BuiltinColumns::Spec age{"Age"};
  const std::vector<BuiltinColumns::Spec> event = {{"Last Seen"},
                                                   {"Type"},
                                                   {"Reason"},
                                                   {"Object"},
                                                   {"Subobject", "string", true},
                                                   {"Source", "string", true},
                                                   {"Message"},
                                                   {"First Seen", "string", true},
                                                   {"Count", "string", true},
                                                   {"Name", "string", true}};
  return {
      {"", "Namespace", {{"Status"}, age}, NamespaceRow},
      {"",
       "Node",
       {{"Status"},
        {"Roles"},
        age,
        {"Version"},
        {"Internal-IP", "string", true},
        {"External-IP", "string", true},
        {"OS-Image", "string", true},
        {"Kernel-Version", "string", true},
        {"Container-Runtime", "string", true}},
       NodeRow},
      {"",
       "Service",
       {{"Type"}, {"Cluster-IP"}, {"External-IP"}, {"Port(s)"}, age, {"Selector", "string", true}},
       ServiceRow},
      {"networking.k8s.io",
       "Ingress",
       {{"Class"}, {"Hosts"}, {"Address"}, {"Ports"}, age},
       IngressRow},
      {"", "Event", event, EventRow},
      {"events.k8s.io", "Event", event, EventRow},
      {"", "Endpoints", {{"Endpoints"}, age}, EndpointsRow},
      {"discovery.k8s.io",
       "EndpointSlice",
       {{"AddressType"}, {"Ports"}, {"Endpoints"}, age},
       EndpointSliceRow},
      {"",
       "PersistentVolumeClaim",
       {{"Status"},
        {"Volume"},
        {"Capacity"},
        {"Access Modes"},
        {"StorageClass"},
        {"VolumeAttributesClass"},
        age,
        {"VolumeMode", "string", true}},
       ClaimRow},
      {"",
       "PersistentVolume",
       {{"Capacity"},
        {"Access Modes"},
        {"Reclaim Policy"},
        {"Status"},
        {"Claim"},
        {"StorageClass"},
        {"VolumeAttributesClass"},
        {"Reason"},
        age,
        {"VolumeMode", "string", true}},
       VolumeRow},
  };
}

}  // namespace kube::server
