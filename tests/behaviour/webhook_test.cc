// A kind that only an interpreter webhook knows. The example's server runs in a process of its own
// and is asked over TLS in both dialects.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/json.h"
#include "base/tls.h"
#include "base/yaml.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/child_process.h"
#include "tests/support/control_plane.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

using Operations = std::vector<std::string>;

const kube::Gvk kWorkload{"workload.example.io", "v1alpha1", "Workload"};
const kube::Gvk kInterpreterConfiguration{"config.karmada.io", "v1alpha1",
                                          "ResourceInterpreterWebhookConfiguration"};
const kube::Gvk kExploringConfiguration{"config.karmada.io", "v1alpha1",
                                        "ResourceExploringWebhookConfiguration"};

const Operations kExploring = {
    "ExploreReplica", "ExploreReplicaRevising", "ExploreRetaining", "ExploreStatusAggregating",
    "ExploreStatus",  "ExploreHealthy",         "ExplorePacking",   "ExploreDependencies"};

constexpr char kWorkloadYaml[] = R"(
apiVersion: workload.example.io/v1alpha1
kind: Workload
metadata:
  name: one
  namespace: $NS
  annotations: {workload.example.io/notes: for the control plane only}
spec:
  replicas: 3
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}
)";

// The server of the example. Each start makes a new certificate, unless KeepIdentity() was called.
class ExampleHook {
 public:
  // Makes every later start use the same certificate.
  void KeepIdentity() {
    auto authority = tls::CertificateAuthority::Create("hooks");
    REQUIRE(authority.ok());
    const auto pair = (*authority)->Issue({.common_name = "hook", .ip_addresses = {"127.0.0.1"}});
    REQUIRE(pair.ok());
    identity_ = {"--cert-file=" + directory_.Write("hook.crt", pair->cert_pem),
                 "--key-file=" + directory_.Write("hook.key", pair->key_pem),
                 "--ca-file=" + directory_.Write("ca.crt", (*authority)->cert_pem())};
  }

  // Uses the same port as the last start, if there was one.
  void Start() {
    const std::string log = absl::StrCat(directory_.path(), "/", ++starts_, ".log");
    std::vector<std::string> words = {KM_WEBHOOK_EXAMPLE, "--address=127.0.0.1:" + port_,
                                      "--manifests=" KM_SOURCE "/examples/webhook/manifests",
                                      "--output=" + directory_.path() + "/filled.yaml"};
    words.insert(words.end(), identity_.begin(), identity_.end());
    process_ = std::make_unique<ChildProcess>(std::move(words), log);
    REQUIRE(Eventually(
        [&] { return absl::StrContains(base::ReadFile(log).value_or(""), "Listening on"); }));
    const std::string url(Configuration(kInterpreterConfiguration)["webhooks"]
                              .At(0)
                              .Get({"clientConfig", "url"})
                              .AsString());
    const size_t colon = url.rfind(':') + 1;
    port_ = url.substr(colon, url.find('/', colon) - colon);
  }
  void Stop() {
    process_->Stop();
    process_.reset();
  }

  // Returns the manifest that the server printed for this kind, with URL and certificate filled in.
  json::Value Configuration(const kube::Gvk& gvk) const {
    const auto documents =
        yaml::ParseAll(base::ReadFile(directory_.path() + "/filled.yaml").value());
    REQUIRE(documents.ok());
    for (const json::Value& document : *documents) {
      if (document["kind"].AsString() == gvk.kind) return document;
    }
    FAIL("no manifest of " << gvk.kind);
    return {};
  }

 private:
  TempDirectory directory_;
  std::string port_ = "0";
  std::vector<std::string> identity_;
  int starts_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

// Returns the configuration restricted to these operations.
json::Value About(json::Value configuration, const Operations& operations) {
  json::Value names = json::Value::Array();
  for (const std::string& name : operations) names.Append(name);
  json::Value& hook = configuration.Mutable("webhooks").MutableAt(0);
  hook.Mutable("rules").MutableAt(0).Set("operations", std::move(names));
  return configuration;
}

// A Workload that is propagated, and the hook that knows its kind.
struct Workloads {
  ControlPlane plane;
  ExampleHook hook;
  std::string ns = plane.UniqueNamespace("workload");
  kube::ObjectKey key{ns, "one"};
  const kube::Gvk dialect;

  explicit Workloads(kube::Gvk of) : dialect(std::move(of)) {
    plane.Apply("host", In(ns, kNamespaceYaml));
    const std::string definition =
        base::ReadFile(KM_SOURCE "/examples/webhook/manifests/1-workload-crd.yaml").value();
    for (const char* cluster : {"host", "member1", "member2"}) plane.Apply(cluster, definition);
    // Upstream's control planes do not have the kind; the daemon must notice it.
    if (dialect == kExploringConfiguration && plane.fleet() == nullptr) {
      plane.Apply("host", base::ReadFile(KM_SOURCE "/config/crds/config.karmada.io_"
                                                   "resourceexploringwebhookconfigurations.yaml")
                              .value());
    }
  }
  ~Workloads() {
    plane.Delete("host", kWorkload, key);
    plane.Eventually([&] {
      return !plane.Exists("host", kWorkload, key) && !plane.Exists("member1", kWorkload, key);
    });
    plane.Delete("host", dialect, {"", ns});
  }

  void Configure(json::Value configuration) {
    configuration.Set({"metadata", "name"}, ns);
    plane.Apply("host", json::Write(configuration));
  }
  // Propagates a Workload with three replicas, two thirds of them for member1.
  void Propagate() {
    plane.Apply("host", In(ns, kWorkloadYaml));
    plane.Apply("host", In(ns, DividedPolicy("{apiVersion: workload.example.io/v1alpha1, kind: "
                                             "Workload}",
                                             2, 1)));
  }
  bool IsDivided(int64_t first, int64_t second) {
    return ReplicasIn("member1") == first && ReplicasIn("member2") == second;
  }
  int64_t ReplicasIn(const std::string& cluster) {
    const auto one = plane.Get(cluster, kWorkload, key);
    return one ? one->Get({"spec", "replicas"}).AsInt(-1) : -1;
  }
  bool HasNotes(const std::string& cluster) {
    const auto one = plane.Get(cluster, kWorkload, key);
    return one && !one->Annotation("workload.example.io/notes").empty();
  }
  void Scale(int64_t replicas) {
    plane.Patch("host", kWorkload, key, absl::StrCat(R"({"spec":{"replicas":)", replicas, "}}"));
  }
  void Report(const std::string& cluster, int64_t ready) {
    plane.Patch(cluster, kWorkload, key,
                absl::StrCat(R"({"status":{"readyReplicas":)", ready, "}}"), "status");
  }
  int64_t ReadyInAll() {
    const auto one = plane.Get("host", kWorkload, key);
    return one ? one->Get({"status", "readyReplicas"}).AsInt(-1) : -1;
  }
  // Returns the item of a cluster in the binding's aggregated status.
  json::Value Aggregated(const std::string& cluster) {
    const auto binding = plane.Get("host", kBinding, {ns, "one-workload"});
    if (!binding) return {};
    for (const json::Value& item : binding->Get({"status", "aggregatedStatus"}).items()) {
      if (item["clusterName"].AsString() == cluster) return item;
    }
    return {};
  }
  bool IsHealth(const std::string& first, const std::string& second) {
    return Aggregated("member1")["health"].AsString() == first &&
           Aggregated("member2")["health"].AsString() == second;
  }
};

// Checks the operations that both dialects have.
void ProveTheWholeWay(Workloads& w) {
  ControlPlane& plane = w.plane;
  // A daemon needs half a minute to notice a new kind of configuration.
  REQUIRE(plane.Eventually([&] { return w.IsDivided(2, 1); }));
  const auto binding = plane.Get("host", kBinding, {w.ns, "one-workload"});
  REQUIRE(binding);
  CHECK(binding->Get({"spec", "replicas"}).AsInt() == 3);
  CHECK(binding->Get({"spec", "replicaRequirements", "resourceRequest", "cpu"}).AsString() ==
        "100m");

  w.Report("member1", 2);
  CHECK(plane.Eventually([&] {
    // The second member has reported nothing: the zero comes from the hook.
    return w.Aggregated("member2")["status"] == json::Value::Object({{"readyReplicas", 0}}) &&
           w.Aggregated("member1")["status"] == json::Value::Object({{"readyReplicas", 2}}) &&
           w.ReadyInAll() == 2 && w.IsHealth("Healthy", "Unhealthy");
  }));

  plane.Patch("member1", kWorkload, w.key, R"({"spec":{"paused":true}})");
  w.Scale(6);
  CHECK(plane.Eventually([&] { return w.IsDivided(4, 2); }));
  CHECK(plane.Get("member1", kWorkload, w.key)->Get({"spec", "paused"}).AsBool());
}

}  // namespace

TEST_CASE("A kind of an interpreter webhook is divided, revised, read and added up", "[pull]") {
  Workloads w(kInterpreterConfiguration);
  w.hook.Start();
  const json::Value configuration = w.hook.Configuration(w.dialect);
  w.Configure(configuration);
  w.Propagate();
  ProveTheWholeWay(w);
  CHECK(w.HasNotes("member1"));  // This dialect has no packing, so nothing was removed.

  // A changed configuration is applied to existing objects although they have not changed.
  w.Configure(
      About(configuration, {"InterpretReplica", "ReviseReplica", "Retain", "InterpretStatus"}));
  CHECK(w.plane.Eventually([&] { return w.IsHealth("Healthy", "Healthy"); }));
  w.Configure(configuration);
  CHECK(w.plane.Eventually([&] { return w.IsHealth("Unhealthy", "Unhealthy"); }));
}

TEST_CASE("A kind of an exploring webhook is packed, divided, revised, read and added up") {
  Workloads w(kExploringConfiguration);
  w.hook.Start();
  json::Value configuration = About(w.hook.Configuration(w.dialect), kExploring);
  w.Configure(configuration);
  w.Propagate();
  ProveTheWholeWay(w);
  CHECK_FALSE(w.HasNotes("member1"));
  CHECK_FALSE(w.HasNotes("member2"));
  CHECK(w.HasNotes("host"));

  // A changed configuration is applied to existing objects although they have not changed.
  w.Configure(About(configuration, {"ExploreReplica", "ExploreReplicaRevising", "ExploreRetaining",
                                    "ExploreStatus"}));
  CHECK(w.plane.Eventually([&] {
    return w.HasNotes("member1") && w.HasNotes("member2") && w.IsHealth("Healthy", "Healthy");
  }));
}

TEST_CASE("While a webhook is down its calls fail fast; when it is back nothing was lost",
          "[pull]") {
  Workloads w(kInterpreterConfiguration);
  ControlPlane& plane = w.plane;
  w.hook.KeepIdentity();
  w.hook.Start();
  w.Configure(w.hook.Configuration(w.dialect));
  w.Propagate();
  REQUIRE(plane.Eventually([&] { return w.IsDivided(2, 1); }));

  w.hook.Stop();
  w.Scale(6);
  w.Report("member1", 4);
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(w.dialect, w.ns), "Warning WebhookSuspended: ");
  }));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kWorkload, "one"), "calls are suspended since");
  }));
  CHECK(w.IsDivided(2, 1));

  w.hook.Start();
  CHECK(plane.Eventually([&] {
    return w.IsDivided(4, 2) && w.ReadyInAll() == 4 && w.IsHealth("Healthy", "Unhealthy");
  }));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(w.dialect, w.ns), "Normal WebhookResumed: ");
  }));
}

}  // namespace tests
