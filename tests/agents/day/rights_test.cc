// What an agent asks for, against the rights that it has: those of `karmadactl register` in the
// control plane, and those that `karmada-agent permissions` prints in its cluster.
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "api/resources.h"
#include "base/yaml.h"
#include "kube/meta/selector.h"
#include "sandbox/api_server.h"
#include "sandbox/sim/writes.h"
#include "tests/agents/day/day.h"

namespace tests {
namespace {

// "verb resource.group name", "verb resource.group", or "get /path"; a path may end in "*".
using Rights = std::set<std::string>;

constexpr char kQuota[] = R"(
apply:
- apiVersion: policy.karmada.io/v1alpha1
  kind: FederatedResourceQuota
  metadata: {name: team, namespace: shop}
  spec: {overall: {pods: "20"}, staticAssignments: [{clusterName: member2, hard: {pods: "9"}}]}
)";

// The kubeconfig that certRotation looks after; $0 is it in base64.
constexpr char kSecret[] = R"("on": member2
apply:
- {apiVersion: v1, kind: Namespace, metadata: {name: karmada-system}}
- apiVersion: v1
  kind: Secret
  metadata: {name: karmada-kubeconfig, namespace: karmada-system}
  data: {karmada-kubeconfig: $0}
)";

// A Service that member2 exports, and one that spans both clusters and changes sides; a user who
// may reach the cluster through the control plane.
constexpr const char* kServices[] = {
    R"(
apply:
- apiVersion: v1
  kind: Service
  metadata: {name: own, namespace: shop}
  spec: {ports: [{name: http, port: 80}]}
- apiVersion: multicluster.x-k8s.io/v1alpha1
  kind: ServiceExport
  metadata: {name: own, namespace: shop}
- apiVersion: policy.karmada.io/v1alpha1
  kind: PropagationPolicy
  metadata: {name: own, namespace: shop}
  spec:
    resourceSelectors:
    - {apiVersion: v1, kind: Service, name: own}
    - {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceExport, name: own}
    placement: {clusterAffinity: {clusterNames: [member2]}}
- apiVersion: v1
  kind: Service
  metadata: {name: both, namespace: shop}
  spec: {ports: [{name: http, port: 80}]}
- apiVersion: networking.karmada.io/v1alpha1
  kind: MultiClusterService
  metadata: {name: both, namespace: shop}
  spec:
    types: [CrossCluster]
    providerClusters: [{name: member1}]
    consumerClusters: [{name: member2}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: reader}
  rules:
  - apiGroups: [cluster.karmada.io]
    resources: [clusters/proxy]
    resourceNames: [member2]
    verbs: ["*"]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: reader}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
  subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]
)",
    R"("on": [member1, member2]
apply:
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: both-a, namespace: shop, labels: {kubernetes.io/service-name: both}}
  addressType: IPv4
  ports: [{name: http, port: 80, protocol: TCP}]
  endpoints: [{addresses: [10.9.0.1]}]
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {name: own-a, namespace: shop, labels: {kubernetes.io/service-name: own}}
  addressType: IPv4
  ports: [{name: http, port: 80, protocol: TCP}]
  endpoints: [{addresses: [10.9.0.2]}]
)",
    R"("on": member1
patch:
- {target: endpointslice/shop/both-a, merge: {endpoints: [{addresses: [10.9.0.3]}]}}
)",
    R"(
patch:
- {target: service/shop/both, merge: {spec: {ports: [{name: http, port: 81, protocol: TCP}]}}}
- {target: serviceexport/shop/own, merge: {metadata: {labels: {a: b}}}}
- target: clusterrolebinding//reader
  merge: {subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]}
)",
    R"("on": member2
patch:
- {target: clusterrolebinding//karmada-impersonator, merge: {subjects: []}}
)",
    R"(
delete:
- multiclusterservice/shop/both
- service/shop/own
- serviceexport/shop/own
- clusterrolebinding//reader
)",
};

// The output of `karmada-agent permissions` with these flags.
std::string Printed(const std::vector<std::string>& flags) {
  const std::string command = absl::StrCat(KM_AGENT, " permissions --cluster-name=member2 '",
                                           absl::StrJoin(flags, "' '"), "'");
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char bytes[4096];
  for (size_t n = 0; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;) text.append(bytes, n);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

Rights OfRole(const std::string& manifest) {
  const auto documents = yaml::ParseAll(manifest);
  REQUIRE(documents.ok());
  Rights rights;
  for (const json::Value& rule : documents->front()["rules"].items()) {
    for (const json::Value& verb : rule["verbs"].items()) {
      for (const json::Value& url : rule["nonResourceURLs"].items()) {
        rights.insert(absl::StrCat(verb.AsString(), " ", url.AsString()));
      }
      for (const json::Value& resource : rule["resources"].items()) {
        const absl::string_view group = rule["apiGroups"].At(0).AsString();
        const std::string right = absl::StrCat(verb.AsString(), " ", resource.AsString(),
                                               group.empty() ? "" : ".", group);
        if (rule["resourceNames"].items().empty()) rights.insert(right);
        for (const json::Value& name : rule["resourceNames"].items()) {
          rights.insert(absl::StrCat(right, " ", name.AsString()));
        }
      }
    }
  }
  return rights;
}

// What `karmadactl register` of upstream's v1.18 gives an agent in the control plane.
Rights OfRegistration() {
  const std::map<std::string, std::string> verbs = {
      {"clusters.cluster.karmada.io", "create delete get list watch"},
      {"clusters.cluster.karmada.io/status", "update"},
      {"resourceinterpreterwebhookconfigurations.config.karmada.io", "get list watch"},
      {"resourceinterpretercustomizations.config.karmada.io", "get list watch"},
      {"namespaces", "get"},
      {"leases.coordination.k8s.io", "get create update"},
      {"certificatesigningrequests.certificates.k8s.io", "get create"},
      {"services", "list watch"},
      {"events", "patch create update"},
      {"secrets", "get patch create"},
      {"works.work.karmada.io", "get create list watch update delete"},
      {"works.work.karmada.io/status", "patch update"}};
  Rights rights;
  for (const auto& [resource, words] : verbs) {
    for (const absl::string_view verb : absl::StrSplit(words, ' ')) {
      rights.insert(absl::StrCat(verb, " ", resource));
    }
  }
  return rights;
}

// What was sent, once each: the verb, the resource and the name of one object.
Rights Asked(const std::vector<Sent>& sent) {
  Rights asked;
  for (const Sent& one : sent) {
    std::vector<std::string> words = absl::StrSplit(one.what, absl::MaxSplits(' ', 2));
    // Lists, watches and creations have no name that a role could limit.
    const bool has_name = words.size() > 2 && words[0] != "list" && words[0] != "watch";
    const std::string name = has_name ? words[2].substr(words[2].rfind('/') + 1) : "";
    asked.insert(absl::StrCat(words[0], " ", words[1], name.empty() ? "" : " ", name));
  }
  return asked;
}

bool Allows(const std::string& right, const std::string& asked) {
  if (absl::EndsWith(right, "*")) {
    return absl::StartsWith(asked, right.substr(0, right.size() - 1));
  }
  return right == asked || absl::StartsWith(asked, absl::StrCat(right, " "));
}

bool IsAllowed(const Rights& rights, const std::string& asked) {
  for (const std::string& right : rights) {
    if (Allows(right, asked)) return true;
  }
  return false;
}

// Documents, versions and probes, which every user may read.
// The verbs of RBAC that no request has: a server asks for them when it is to write a role, and a
// binding.
std::string RequestOf(const std::string& right) {
  const std::vector<std::string> words = absl::StrSplit(right, ' ');
  constexpr char kGroup[] = ".rbac.authorization.k8s.io";
  if (words[0] == "escalate") return absl::StrCat("create clusterroles", kGroup);
  // The request does not name the binding.
  if (words[0] == "bind") return absl::StrCat("create clusterrolebindings", kGroup);
  return right;
}

bool IsOpenToAll(const std::string& asked) { return absl::StrContains(asked, " /"); }

std::vector<std::string> Unused(const Rights& rights, const Rights& asked) {
  std::vector<std::string> unused;
  for (const std::string& right : rights) {
    bool used = false;
    for (const std::string& one : asked) used = used || Allows(RequestOf(right), one);
    if (!used) unused.push_back(right);
  }
  return unused;
}

// Rights in the cluster that no day here needs.
bool HasReason(const std::string& right) {
  // Only servers without aggregated discovery are asked group by group, and only those without
  // /readyz for /healthz.
  if (absl::StrContains(right, " /")) return true;
  // Objects that have no room in the memory for the cluster are read one by one. What is not kept
  // there is read so anyway.
  const std::vector<std::string> words = absl::StrSplit(right, ' ');
  return words[0] == "get" && words.size() == 2 && words[1] != "serviceaccounts";
}

// Without the options of the second test.
bool HasReasonWithoutOptions(const std::string& right) {
  for (const char* kind : {" services", " endpointslices.", " serviceexports."}) {
    if (absl::StrContains(right, kind)) return true;
  }
  return HasReason(right);
}

// Gives the Secrets of accounts their tokens, as the controller manager of the cluster does.
void IssueTokens(sandbox::Backend& backend) {
  const kube::Gvr secrets = api::Secrets().gvr();
  const auto all = backend.List(secrets, "", kube::LabelSelector());
  REQUIRE(all.ok());
  for (const kube::ObjectPtr& secret : *all) {
    const bool is_of_account =
        secret->root()["type"].AsString() == "kubernetes.io/service-account-token";
    if (!is_of_account || !secret->root()["data"]["token"].AsString().empty()) continue;
    json::Value patch = json::Value::Object();
    patch.Set({"data", "token"}, absl::Base64Escape("a token"));
    patch.Set({"data", "ca.crt"}, absl::Base64Escape("a certificate"));
    REQUIRE(sandbox::PatchAsRead(backend, secrets, *secret, std::move(patch)).ok());
  }
}

// Checks what the agent has asked in both servers against the rights that it has, and that it needs
// those in its cluster.
void CheckRights(Day& day, const Rights& role, const std::function<bool(const std::string&)>& ok) {
  const Rights of_registration = OfRegistration();
  for (const std::string& asked : Asked(day.to_plane().Since({}))) {
    INFO(asked);
    CHECK((IsOpenToAll(asked) || IsAllowed(of_registration, asked)));
  }
  const Rights asked = Asked(day.in_member().Since({}));
  for (const std::string& one : asked) {
    INFO(one);
    CHECK(IsAllowed(role, one));
  }
  for (const std::string& right : Unused(role, asked)) {
    INFO(right);
    CHECK(ok(right));
  }
}

// Has the agent write, put right and take away what a cluster gets in any case.
void WriteEverything(Day& day) {
  day.Do(kQuota);
  day.Do("apply: [{apiVersion: v1, kind: Namespace, metadata: {name: spare}}]");
  day.Pass(absl::Minutes(1));
  day.Do("patch: [{target: namespace//spare, merge: {metadata: {labels: {a: b}}}}]");
  day.Do(
      "patch: [{target: federatedresourcequota/shop/team, merge: {spec: {staticAssignments: "
      "[{clusterName: member2, hard: {pods: \"8\"}}]}}}]");
  day.Do("patch: [{target: deployment/shop/web, merge: {spec: {replicas: 5}}}]");
  day.Do("patch: [{target: configmap/shop/settings, merge: {data: {k: b}}}]");
  day.Pass(absl::Minutes(2));
  day.Do("\"on\": member2\npatch: [{target: deployment/shop/web, merge: {spec: {replicas: 7}}}]");
  day.Do("\"on\": member2\ndelete: [configmap/shop/settings]");
  CHECK(day.Within(absl::Minutes(2), [&] {
    return day.ReplicasInMember("web") == 5 && day.InMember("configmaps", "settings") != nullptr;
  }));
  day.KillAgent();
  day.StartAgent();
  day.Do(
      "delete: [deployment/shop/api, configmap/shop/settings, namespace//spare, "
      "federatedresourcequota/shop/team]");
  day.Pass(absl::Minutes(5));
  CHECK(day.InMember("deployments", "api") == nullptr);
}

}  // namespace

TEST_CASE(
    "An agent asks for nothing that it may not do, and has no right in its cluster for nothing") {
  Day day;
  day.Begin();
  WriteEverything(day);
  CheckRights(
      day,
      OfRole(Printed({"--report-secrets=None", "--template-kinds=deployments.apps,configmaps"})),
      HasReasonWithoutOptions);
}

TEST_CASE("An agent has no right in its cluster for nothing with all of its options either") {
  const std::vector<std::string> options = {"--report-secrets=KubeCredentials,KubeImpersonator",
                                            "--controllers=*,certRotation",
                                            "--feature-gates=MultiClusterService=true"};
  std::vector<std::string> flags = options;
  // At each look the certificate is renewed.
  for (const char* more : {"--leader-elect=false", "--cert-rotation-checking-interval=1m",
                           "--cert-rotation-remaining-time-threshold=0.999999"}) {
    flags.emplace_back(more);
  }
  Day day(flags, {"--feature-gates=MultiClusterService=true"});
  day.Do(absl::Substitute(kSecret, absl::Base64Escape(day.Kubeconfig())));
  // The first start registers the cluster.
  day.StartAgent();
  REQUIRE(day.Within(absl::Minutes(5), [&] {
    IssueTokens(day.stage().fleet().member("member2")->backend());
    return day.Ready() == "True";
  }));
  day.KillAgent();
  day.Begin();
  for (const char* step : kServices) {
    day.Do(step);
    day.Pass(absl::Minutes(2));
  }
  WriteEverything(day);
  // Its Works, and what they have put there, go with the cluster.
  day.Do("delete: [cluster//member2]");
  day.Pass(absl::Minutes(5));
  std::vector<std::string> print = options;
  print.emplace_back(
      "--template-kinds=deployments.apps,configmaps,services,serviceexports.multicluster.x-k8s.io");
  CheckRights(day, OfRole(Printed(print)), HasReason);
}

}  // namespace tests
