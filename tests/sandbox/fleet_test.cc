#include "sandbox/fleet.h"

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/files.h"
#include "base/yaml.h"
#include "sandbox/sim/kinds.h"
#include "tests/support/eventually.h"

namespace sandbox {
namespace {

using tests::Eventually;

std::unique_ptr<Fleet> StartFleet(FleetOptions options) {
  options.ready_delay = absl::Milliseconds(5);
  auto fleet = Fleet::Start(options);
  INFO(fleet.status());
  REQUIRE(fleet.ok());
  return *std::move(fleet);
}

json::Value Parsed(const std::string& kubeconfig) {
  const auto value = yaml::Parse(kubeconfig);
  REQUIRE(value.ok());
  return *value;
}

TEST_CASE("members in pull mode come last, and wait for their agents to register them") {
  const auto fleet = StartFleet({.members = 1, .pull_members = 1});
  CHECK(fleet->member_names() == std::vector<std::string>{"member1", "member2"});
  CHECK_FALSE(fleet->IsPull("member1"));
  CHECK(fleet->IsPull("member2"));
  CHECK_FALSE(fleet->IsPull("member3"));
  Backend& karmada = fleet->control_plane().backend();
  CHECK_FALSE(karmada.Get(api::Clusters().gvr(), {"", "member2"}).ok());
  const auto kubeconfig = fleet->AgentKubeconfig("member2");
  REQUIRE(kubeconfig.ok());
  const json::Value agent = Parsed(*kubeconfig);
  CHECK(agent["users"].items()[0]["name"].AsString() == "system:karmada:agent:member2");
  CHECK(agent["clusters"].items()[0]["cluster"]["server"].AsString() ==
        fleet->control_plane().url());
}

TEST_CASE("a fleet has a Karmada control plane and joined members") {
  const auto fleet = StartFleet({.members = 2});
  CHECK(fleet->member_names() == std::vector<std::string>{"member1", "member2"});
  CHECK(fleet->member("member3") == nullptr);
  Backend& karmada = fleet->control_plane().backend();
  for (const char* ns :
       {"karmada-system", "karmada-cluster", "default", "kube-system", "kube-public"}) {
    INFO(ns);
    CHECK(karmada.Get(kinds::Namespaces().gvr(), {"", ns}).ok());
  }
  const auto cluster = karmada.Get(api::Clusters().gvr(), {"", "member2"});
  REQUIRE(cluster.ok());
  const json::Value& spec = (*cluster)->spec();
  CHECK(spec["syncMode"].ToString() == "Push");
  CHECK(spec["apiEndpoint"].ToString() == fleet->member("member2")->url());
  CHECK(spec["resourceModels"].size() == 9);
  const auto secret = karmada.Get(
      kinds::Secrets().gvr(),
      {spec["secretRef"]["namespace"].ToString(), spec["secretRef"]["name"].ToString()});
  REQUIRE(secret.ok());
  CHECK_FALSE((*secret)->root()["data"]["token"].AsString().empty());
  std::string ca;
  REQUIRE(absl::Base64Unescape((*secret)->root()["data"]["caBundle"].ToString(), &ca));
  CHECK(ca.find("BEGIN CERTIFICATE") != std::string::npos);
  CHECK((*secret)->ControllerOwner().uid == (*cluster)->uid());
  CHECK(karmada.Get(kinds::Secrets().gvr(), {"karmada-cluster", "member2-impersonator"}).ok());
}

TEST_CASE("a member whose credentials cannot be created can be joined again") {
  std::atomic<bool> refuses = true;  // Outlives the hook.
  const auto fleet = StartFleet({.members = 1});
  Backend& karmada = fleet->control_plane().backend();
  REQUIRE(karmada.Delete(api::Clusters().gvr(), {"", "member1"}, {}).ok());
  karmada.AddAdmission([&](const AdmissionRequest& request, kube::Object&) {
    const bool mine = request.verb == Verbs::kCreate && request.resource.plural == "secrets";
    return mine && refuses ? absl::PermissionDeniedError("protected") : absl::OkStatus();
  });
  CHECK(absl::IsPermissionDenied(fleet->JoinAgain("member1")));
  CHECK(absl::IsNotFound(karmada.Get(api::Clusters().gvr(), {"", "member1"}).status()));
  refuses = false;
  CHECK(fleet->JoinAgain("member1") == absl::OkStatus());
  CHECK(karmada.Get(api::Clusters().gvr(), {"", "member1"}).ok());
}

TEST_CASE("members run workloads and the control plane does not") {
  const auto fleet = StartFleet({.members = 1});
  const auto parsed = json::Parse(R"({"apiVersion": "apps/v1", "kind": "Deployment",
      "metadata": {"name": "web", "namespace": "default"},
      "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
               "template": {"metadata": {"labels": {"app": "web"}},
                            "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}})");
  REQUIRE(parsed.ok());
  Backend& member = fleet->member("member1")->backend();
  Backend& karmada = fleet->control_plane().backend();
  REQUIRE(karmada.Create(kinds::Deployments().gvr(), kube::Object(*parsed)).ok());
  REQUIRE(member.Create(kinds::Deployments().gvr(), kube::Object(*parsed)).ok());
  CHECK(Eventually([&] {
    const auto web = member.Get(kinds::Deployments().gvr(), {"default", "web"});
    return web.ok() && (*web)->status()["availableReplicas"].AsInt() == 2;
  }));
  CHECK(karmada.List(kinds::Pods().gvr(), "", {})->empty());
  CHECK((*karmada.Get(kinds::Deployments().gvr(), {"default", "web"}))->status().empty());
  CHECK(member.List(kinds::Nodes().gvr(), "", {})->size() == 3);
  CHECK(karmada.List(kinds::Nodes().gvr(), "", {})->empty());
}

TEST_CASE("policies written to the control plane pass Karmada's admission") {
  const auto fleet = StartFleet({.members = 0});
  const auto policy =
      json::Parse(R"({"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
      "metadata": {"name": "p", "namespace": "default"},
      "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}], "placement": {}}})");
  const auto created = fleet->control_plane().backend().Create(api::PropagationPolicies().gvr(),
                                                               kube::Object(*policy));
  INFO(created.status());
  REQUIRE(created.ok());
  CHECK_FALSE((*created)->Label(api::kPropagationPolicyIdLabel).empty());
}

TEST_CASE("deleting a Cluster takes its secrets along") {
  const auto fleet = StartFleet({.members = 1});
  Backend& karmada = fleet->control_plane().backend();
  REQUIRE(karmada.Delete(api::Clusters().gvr(), {"", "member1"}, {}).ok());
  CHECK(Eventually(
      [&] { return karmada.List(kinds::Secrets().gvr(), "karmada-cluster", {})->empty(); }));
}

TEST_CASE("kubeconfigs are complete and private") {
  const auto fleet = StartFleet({.members = 1});
  const std::string directory =
      std::filesystem::temp_directory_path() / ("fleet-test-" + std::to_string(getpid()));
  std::filesystem::create_directory(directory);
  REQUIRE(fleet->WriteKubeconfigs(directory).ok());
  for (const char* name : {"karmada", "member1"}) {
    const std::string path = directory + "/" + name + ".kubeconfig";
    struct stat info = {};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    const std::string text = base::ReadFile(path).value();
    CHECK(text == *fleet->Kubeconfig(name));
    const json::Value config = Parsed(text);
    const json::Value& server = config["clusters"].At(0)["cluster"]["server"];
    CHECK(server.ToString() == (std::string(name) == "karmada" ? fleet->control_plane().url()
                                                               : fleet->member(name)->url()));
    CHECK_FALSE(config["users"].At(0)["user"]["client-key-data"].AsString().empty());
    CHECK(config["current-context"] == config["contexts"].At(0)["name"]);
  }
  std::filesystem::remove_all(directory);
  CHECK(absl::IsNotFound(fleet->WriteKubeconfigs(directory)));
  CHECK(absl::IsNotFound(fleet->Kubeconfig("member9").status()));
}

TEST_CASE("members can be added while the fleet runs") {
  const auto fleet = StartFleet({.members = 1});
  const auto named = fleet->AddMember("edge");
  REQUIRE(named.ok());
  CHECK(*named == "edge");
  const auto next = fleet->AddMember("");
  REQUIRE(next.ok());
  CHECK(*next == "member2");
  CHECK(fleet->member_names() == std::vector<std::string>{"member1", "edge", "member2"});
  CHECK(fleet->control_plane().backend().Get(api::Clusters().gvr(), {"", "edge"}).ok());
  CHECK(absl::IsAlreadyExists(fleet->AddMember("edge").status()));
  CHECK(absl::IsAlreadyExists(fleet->AddMember("karmada").status()));
  CHECK(absl::IsInvalidArgument(fleet->AddMember("Not_A_Name").status()));
}

TEST_CASE("a fleet that finds no definitions names the searched places") {
  FleetOptions options;
  options.members = 0;
  options.crd_directory = "/nonexistent";
  const auto fleet = Fleet::Start(options);
  if (fleet.ok()) return;  // The definitions of the source tree were found.
  CHECK(absl::IsNotFound(fleet.status()));
  CHECK(std::string(fleet.status().message()).find("/nonexistent") != std::string::npos);
}

TEST_CASE("three members are up within a second") {
  const absl::Time start = absl::Now();
  const auto fleet = StartFleet({.members = 3});
  const absl::Duration took = absl::Now() - start;
  std::set<std::string> urls = {fleet->control_plane().url()};
  for (const std::string& name : fleet->member_names()) urls.insert(fleet->member(name)->url());
  CHECK(urls.size() == 4);
  // Sanitizers and busy machines need longer; with a server that waits for something it would be
  // many seconds.
  CHECK(took < absl::Seconds(10));
  WARN("a fleet of three members took " << absl::FormatDuration(took));
}

}  // namespace
}  // namespace sandbox
