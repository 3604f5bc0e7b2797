#include "tests/agents/hosted.h"

#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace tests {
namespace {

constexpr char kHost[] = "karmada";
constexpr char kNs[] = "karmada-system";
const kube::Resource& ConfigMaps() {
  static const auto& maps = *new kube::Resource{{"", "v1", "ConfigMap"}, "configmaps", true};
  return maps;
}

bool HasTrue(const kube::Object& object, const char* type) {
  for (const json::Value& condition : object.status()["conditions"].items()) {
    if (condition["type"].AsString() == type) return condition["status"].AsString() == "True";
  }
  return false;
}

void MakeNamespace(kube::Client& client, const std::string& name) {
  const auto made = client.Create(api::Namespaces(),
                                  kube::Object::Make(api::Namespaces().gvk, {"", name}), {}, {});
  if (!made.ok()) CHECK(absl::IsAlreadyExists(made.status()));
}

}  // namespace

Hosted::Hosted(int clusters) {
  sandbox::FleetOptions options;
  options.members = clusters;
  options.nodes_per_member = 1;
  options.with_scheduler = false;
  options.join_members = false;
  options.crd_directory = absl::StrCat(KM_SOURCE, "/config/crds");
  auto fleet = sandbox::Fleet::Start(options);
  INFO(fleet.status());
  REQUIRE(fleet.ok());
  fleet_ = *std::move(fleet);
  clusters_ = fleet_->member_names();
  std::vector<std::string> all = clusters_;
  all.emplace_back(kHost);
  for (const std::string& name : all) {
    const std::string file =
        directory_.Write(absl::StrCat(name, ".kubeconfig"), *fleet_->Kubeconfig(name));
    const auto config = kube::LoadConnectionConfig({file, ""});
    REQUIRE(config.ok());
    clients_[name] = std::make_unique<kube::Client>(*kube::NewHttpTransport(*config),
                                                    kube::ClientOptions{.name = name},
                                                    base::RealClock(), nullptr);
  }
  MakeNamespace(plane(), kNs);
  for (const std::string& cluster : clusters_) {
    MakeNamespace(plane(), api::ExecutionNamespace(cluster));
  }
}

sandbox::ApiServer& Hosted::host() { return fleet_->control_plane(); }

void Hosted::PutSecret(const std::string& cluster, const std::string& member_kubeconfig) {
  kube::Object secret = kube::Object::Make(api::Secrets().gvk, {kNs, cluster});
  secret.Set({"metadata", "labels", "fleet"}, "yes");
  secret.Set({"data", "karmada-kubeconfig"}, absl::Base64Escape(*fleet_->Kubeconfig(kHost)));
  secret.Set({"data", "kubeconfig"},
             absl::Base64Escape(member_kubeconfig.empty() ? *fleet_->Kubeconfig(cluster)
                                                          : member_kubeconfig));
  if (plane().Create(api::Secrets(), secret, {}, {}).ok()) return;
  CHECK(plane()
            .Patch(api::Secrets(), secret.key(), kube::PatchType::kMerge, secret.root(), {}, {})
            .ok());
}

void Hosted::PatchSecret(const std::string& cluster, const json::Value& patch) {
  CHECK(plane().Patch(api::Secrets(), {kNs, cluster}, kube::PatchType::kMerge, patch, {}, {}).ok());
}

void Hosted::BreakSecret(const std::string& cluster) {
  PatchSecret(cluster, json::Value::Object({{"data", json::Value::Object({{"kubeconfig", ""}})}}));
}

void Hosted::ReplaceCredentials(const std::string& cluster) {
  const std::string text = absl::Base64Escape(*fleet_->AgentKubeconfig(cluster));
  PatchSecret(cluster,
              json::Value::Object({{"data", json::Value::Object({{"karmada-kubeconfig", text}})}}));
}

void Hosted::RemoveCluster(const std::string& cluster) {
  const kube::ObjectKey key{"", cluster};
  CHECK(plane().Delete(api::Clusters(), key, {}, {}).ok());
  const json::Value patch = json::Value::Object(
      {{"metadata", json::Value::Object({{"finalizers", json::Value::Array({})}})}});
  const auto patched = plane().Patch(api::Clusters(), key, kube::PatchType::kMerge, patch, {}, {});
  if (!patched.ok()) CHECK(absl::IsNotFound(patched.status()));
}

void Hosted::PutCluster(const std::string& cluster, const std::string& id) {
  kube::Object registered = kube::Object::Make(api::Clusters().gvk, {"", cluster});
  registered.Set({"spec", "syncMode"}, "Pull");
  registered.Set({"spec", "id"}, id);
  const auto made = plane().Create(api::Clusters(), registered, {}, {});
  INFO(made.status());
  CHECK(made.ok());
}

std::string Hosted::IdOf(const std::string& cluster) {
  const auto found = plane().Get(api::Clusters(), {"", cluster}, {});
  REQUIRE(found.ok());
  return std::string(found->spec()["id"].AsString());
}

void Hosted::RemoveSecret(const std::string& cluster) {
  CHECK(plane().Delete(api::Secrets(), {kNs, cluster}, {}, {}).ok());
}

void Hosted::PutSecrets() {
  for (const std::string& cluster : clusters_) PutSecret(cluster);
}

void Hosted::PutWork(const std::string& cluster, const std::string& name, size_t bytes) {
  kube::Object map = kube::Object::Make(ConfigMaps().gvk, {"default", name});
  if (bytes > 0) map.Set({"data", "text"}, std::string(bytes, 'x'));
  kube::Object work =
      kube::Object::Make(api::Works().gvk, {api::ExecutionNamespace(cluster), name});
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({map.root()}));
  const auto made = plane().Create(api::Works(), work, {}, {});
  INFO(made.status());
  CHECK(made.ok());
}

void Hosted::PutLarge(const std::string& cluster, const std::string& name, size_t bytes) {
  kube::Object map = kube::Object::Make(ConfigMaps().gvk, {"default", name});
  map.Set({"metadata", "labels", api::kManagedLabel}, api::kManagedValue);
  map.Set({"data", "text"}, std::string(bytes, 'x'));
  CHECK(member(cluster).Create(ConfigMaps(), map, {}, {}).ok());
}

bool Hosted::Has(const std::string& cluster, const std::string& config_map) {
  return member(cluster).Get(ConfigMaps(), {"default", config_map}, {}).ok();
}

std::unique_ptr<ChildProcess> Hosted::Start(const std::string& name,
                                            const std::vector<std::string>& flags) {
  std::vector<std::string> words = {
      KM_AGENT,
      "--clusters-from-secrets=fleet=yes",
      absl::StrCat("--hosting-kubeconfig=", directory_.path(), "/", kHost, ".kubeconfig"),
      "--report-secrets=None",
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      "--cluster-status-update-frequency=1s",
      "--cluster-failure-threshold=1s",
      "--cluster-success-threshold=1s"};
  words.insert(words.end(), flags.begin(), flags.end());
  return std::make_unique<ChildProcess>(words, LogFile(name));
}

std::string Hosted::LogFile(const std::string& name) const {
  return absl::StrCat(directory_.path(), "/", name, ".log");
}

std::string Hosted::Log(const std::string& name) const {
  return base::ReadFile(LogFile(name)).value_or("");
}

bool Hosted::Eventually(const std::function<bool()>& holds) {
  const base::SteadyTime end = base::RealClock().SteadyNow() + absl::Minutes(2);
  do {
    Accept();
    if (holds()) return true;
  } while (base::RealClock().SleepFor(absl::Milliseconds(50), {}) &&
           base::RealClock().SteadyNow() < end);
  return false;
}

void Hosted::Accept() {
  const auto all = plane().List(api::Clusters(), "", {}, {});
  if (!all.ok()) return;
  for (const kube::Object& cluster : all->items) {
    if (cluster.HasFinalizer(api::kClusterFinalizer)) continue;
    kube::Object accepted = kube::Object::Make(api::Clusters().gvk, cluster.key());
    accepted.AddFinalizer(api::kClusterFinalizer);
    const json::Value patch = json::Value::Object(
        {{"metadata", json::Value::Object({{"finalizers", accepted.metadata()["finalizers"]}})}});
    CHECK(
        plane().Patch(api::Clusters(), cluster.key(), kube::PatchType::kMerge, patch, {}, {}).ok());
  }
}

bool Hosted::IsReady(const std::string& cluster) {
  const auto found = plane().Get(api::Clusters(), {"", cluster}, {});
  return found.ok() && HasTrue(*found, "Ready");
}

bool Hosted::AllReady() {
  for (const std::string& cluster : clusters_) {
    if (!IsReady(cluster)) return false;
  }
  return true;
}

std::map<std::string, std::string> Hosted::Holders() {
  std::map<std::string, std::string> holders;
  const auto leases = plane().List(api::Leases(), kNs, {}, {});
  if (!leases.ok()) return holders;
  for (const kube::Object& lease : leases->items) {
    absl::string_view name = lease.name();
    const absl::string_view holder = lease.spec()["holderIdentity"].AsString();
    if (absl::ConsumePrefix(&name, "karmada-agent-shard-") && !holder.empty()) {
      holders[std::string(name)] = std::string(holder);
    }
  }
  return holders;
}

std::set<std::string> Hosted::Serving() {
  std::set<std::string> serving;
  for (const auto& [cluster, holder] : Holders()) serving.insert(holder);
  return serving;
}

}  // namespace tests
