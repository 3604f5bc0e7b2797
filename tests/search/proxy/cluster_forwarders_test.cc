// How members are reached for the requests of users.
#include "search/proxy/cluster_forwarders.h"

#include <catch2/catch.hpp>

#include "base/json.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

class FakeForwarder : public Forwarder {
 public:
  void Forward(ForwardedRequest, std::shared_ptr<base::HttpResponder>, OnForbidden) override {}
  bool ReplaceToken(const std::string& token) override {
    tokens.push_back(token);
    return true;
  }

  std::vector<std::string> tokens;
};

struct Fixture {
  kube::ObjectPtr Cluster(const std::string& name) {
    if (cluster.is_null() || name != "member1") return nullptr;
    return kube::Share(kube::Object(cluster));
  }
  kube::ObjectPtr Secret(const kube::ObjectKey& key) {
    CHECK(key == kube::ObjectKey{"karmada-cluster", "member1-impersonator"});
    if (secret.is_null()) return nullptr;
    return kube::Share(kube::Object(secret));
  }
  // Returns the message of the error, which has to be a 500 without a reason.
  std::string Refusal() {
    const auto error = kube::server::ErrorOf(forwarders.For("member1").status());
    CHECK(error.code == 500);
    CHECK(error.reason.empty());
    return error.message;
  }

  json::Value cluster = json::Value::Object(
      {{"metadata", json::Value::Object({{"name", "member1"}})},
       {"spec", json::Value::Object({{"apiEndpoint", "https://m1:6443"},
                                     {"impersonatorSecretRef",
                                      json::Value::Object({{"namespace", "karmada-cluster"},
                                                           {"name", "member1-impersonator"}})}})}});
  json::Value secret =
      json::Value::Object({{"data", json::Value::Object({{"token", "dG9rZW4="}})}});
  std::vector<std::shared_ptr<FakeForwarder>> made;
  std::vector<kube::ConnectionConfig> configs;
  absl::Status connection_error;
  ClusterForwarders forwarders{
      {[this](const std::string& name) { return Cluster(name); },
       [this](const kube::ObjectKey& key) { return Secret(key); },
       [this](const kube::Object& object) -> absl::StatusOr<kube::ConnectionConfig> {
         if (!connection_error.ok()) return connection_error;
         kube::ConnectionConfig config;
         config.server = object.spec()["apiEndpoint"].ToString();
         config.token = "of the caches";
         return config;
       },
       [this](const std::string&,
              const kube::ConnectionConfig& config) -> absl::StatusOr<std::shared_ptr<Forwarder>> {
         configs.push_back(config);
         made.push_back(std::make_shared<FakeForwarder>());
         return made.back();
       }}};
};

TEST_CASE("a member is reached with the token of its impersonator, over one forwarder") {
  Fixture f;
  const auto first = f.forwarders.For("member1");
  REQUIRE(first.ok());
  CHECK(f.configs.at(0).server == "https://m1:6443");
  CHECK(f.configs.at(0).token == "token");
  CHECK(*f.forwarders.For("member1") == *first);
  CHECK(f.made.size() == 1);
}

TEST_CASE("a new token is taken over in place, a new address makes a new forwarder") {
  Fixture f;
  const auto first = *f.forwarders.For("member1");
  f.secret.Set({"data", "token"}, "bmV3");
  CHECK(*f.forwarders.For("member1") == first);
  CHECK(f.made[0]->tokens == std::vector<std::string>{"new"});
  CHECK(*f.forwarders.For("member1") == first);
  CHECK(f.made[0]->tokens.size() == 1);
  f.cluster.Set({"spec", "apiEndpoint"}, "https://m1-new:6443");
  CHECK(*f.forwarders.For("member1") != first);
  CHECK(f.configs.back().token == "new");
  f.forwarders.Forget("member1");
  CHECK(f.forwarders.For("member1").ok());
  CHECK(f.made.size() == 3);
}

TEST_CASE("a member that cannot be reached is reported with upstream's words") {
  Fixture f;
  CHECK(kube::server::ErrorOf(f.forwarders.For("other").status()).message ==
        "clusters.cluster.karmada.io \"other\" not found");
  f.connection_error = absl::FailedPreconditionError("cluster member1: spec.apiEndpoint is empty");
  CHECK(f.Refusal() == "cluster member1: spec.apiEndpoint is empty");
  f.secret.Set({"data", "token"}, "");
  CHECK(f.Refusal() == "the impresonate token of cluster member1 is empty");
  f.secret = json::Value();
  CHECK(f.Refusal() == "secret \"member1-impersonator\" not found");
  f.cluster.Erase({"spec", "impersonatorSecretRef"});
  CHECK(f.Refusal() == "the impersonatorSecretRef of cluster member1 is nil");
}

}  // namespace
}  // namespace search
