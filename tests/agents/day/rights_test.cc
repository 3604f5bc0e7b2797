// What an agent asks for, against the rights that it has: those of `karmadactl register` in the
// control plane, and those that `karmada-agent permissions` prints in its cluster.
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/yaml.h"
#include "tests/agents/day/day.h"

namespace tests {
namespace {

using Rights = std::set<std::string>;  // "verb resource.group", "get /path"; a
                                       // path may end in "*".

constexpr char kQuota[] = R"(
apply:
- apiVersion: policy.karmada.io/v1alpha1
  kind: FederatedResourceQuota
  metadata: {name: team, namespace: shop}
  spec: {overall: {pods: "20"}, staticAssignments: [{clusterName: member2, hard: {pods: "9"}}]}
)";

// The output of `karmada-agent permissions` for what these tests propagate.
std::string Printed() {
  const std::string command =
      absl::StrCat(KM_AGENT,
                   " permissions --cluster-name=member2 --report-secrets=None"
                   " --template-kinds=deployments.apps,configmaps");
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
        rights.insert(absl::StrCat(verb.AsString(), " ", resource.AsString(),
                                   group.empty() ? "" : ".", group));
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

// The first two words of what was sent, once each.
Rights Asked(const std::vector<Sent>& sent) {
  Rights asked;
  for (const Sent& one : sent) {
    const std::vector<std::string> words = absl::StrSplit(one.what, absl::MaxSplits(' ', 2));
    asked.insert(absl::StrCat(words[0], " ", words[1]));
  }
  return asked;
}

bool Allows(const std::string& right, const std::string& asked) {
  if (!absl::EndsWith(right, "*")) return right == asked;
  return absl::StartsWith(asked, right.substr(0, right.size() - 1));
}

bool IsAllowed(const Rights& rights, const std::string& asked) {
  for (const std::string& right : rights) {
    if (Allows(right, asked)) return true;
  }
  return false;
}

// Documents, versions and probes, which every user may read.
bool IsOpenToAll(const std::string& asked) { return absl::StrContains(asked, " /"); }

std::vector<std::string> Unused(const Rights& rights, const Rights& asked) {
  std::vector<std::string> unused;
  for (const std::string& right : rights) {
    bool used = false;
    for (const std::string& one : asked) used = used || Allows(right, one);
    if (!used) unused.push_back(right);
  }
  return unused;
}

// Rights in the cluster that this day does not need.
bool HasReason(const std::string& right) {
  // Only servers without aggregated discovery are asked group by group, and only those without
  // /readyz for /healthz.
  if (absl::StrContains(right, " /")) return true;
  // Objects that have no room in the memory for the cluster are read one by one.
  if (absl::StartsWith(right, "get ")) return true;
  // What needs a Service that is exported or spans clusters; tests/e2e has one.
  for (const char* kind : {" services", " endpointslices.", " serviceexports."}) {
    if (absl::StrContains(right, kind)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE(
    "An agent asks for nothing that it may not do, and has no right in its cluster for nothing") {
  Day day;
  day.Begin();
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

  const Rights of_registration = OfRegistration();
  for (const std::string& asked : Asked(day.to_plane().Since({}))) {
    INFO(asked);
    CHECK((IsOpenToAll(asked) || of_registration.contains(asked)));
  }
  const Rights role = OfRole(Printed());
  const Rights asked = Asked(day.in_member().Since({}));
  for (const std::string& one : asked) {
    INFO(one);
    CHECK(IsAllowed(role, one));
  }
  for (const std::string& right : Unused(role, asked)) {
    INFO(right);
    CHECK(HasReason(right));
  }
}

}  // namespace tests
