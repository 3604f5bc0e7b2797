#include "cmd/agent/cluster_secrets.h"

#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/json.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace cmd {
namespace {

constexpr char kNs[] = "hosts";

kube::Object SecretOf(const std::string& name, const std::string& plane,
                      const std::string& member) {
  kube::Object secret = kube::Object::Make(api::Secrets().gvk, {kNs, name});
  secret.Set({"metadata", "labels", "fleet"}, "yes");
  secret.Set({"data", "karmada-kubeconfig"}, absl::Base64Escape(plane));
  secret.Set({"data", "kubeconfig"}, absl::Base64Escape(member));
  return secret;
}

struct Fixture {
  std::shared_ptr<tests::FakeApiServer> server = std::make_shared<tests::FakeApiServer>();
  tests::FakeClock clock;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};
  kube::InformerSet informers{client, clock};
  ClusterSecrets secrets{informers, kNs, "fleet=yes"};

  ClusterPair Pair(const std::string& cluster) {
    const ClusterPairs pairs = secrets.Read();
    const auto found = pairs.find(cluster);
    return found == pairs.end() ? ClusterPair{"", "", absl::NotFoundError("")} : found->second;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Secrets of clusters are followed") {
  server->Put(api::Secrets(), SecretOf("edge1", "plane", "member"));
  CHECK(tests::Eventually([&] { return Pair("edge1").usable.ok(); }));
  CHECK(Pair("edge1").karmada_kubeconfig == "plane");
  CHECK(Pair("edge1").kubeconfig == "member");
  server->Put(api::Secrets(), SecretOf("edge1", "plane", "other"));
  CHECK(tests::Eventually([&] { return Pair("edge1").kubeconfig == "other"; }));
  server->Erase(api::Secrets(), {kNs, "edge1"});
  CHECK(tests::Eventually([&] { return secrets.Read().empty(); }));
}

TEST_CASE_METHOD(Fixture, "an error names the Secret and the key, and not what is in it") {
  const auto error_of = [&](kube::Object secret) {
    const std::string name(secret.name());
    server->Put(api::Secrets(), std::move(secret));
    REQUIRE(tests::Eventually([&] { return secrets.Read().contains(name); }));
    const std::string error(Pair(name).usable.message());
    CHECK(absl::StrContains(error, absl::StrCat("Secret hosts/", name)));
    CHECK_FALSE(absl::StrContains(error, "s3cret"));
    return error;
  };
  kube::Object missing = SecretOf("missing", "s3cret", "s3cret");
  missing.Erase({"data", "kubeconfig"});
  CHECK(absl::StrContains(error_of(missing), "key kubeconfig: it is missing"));
  CHECK(absl::StrContains(error_of(SecretOf("empty", "", "s3cret")),
                          "key karmada-kubeconfig: it is empty"));
  kube::Object broken = SecretOf("broken", "s3cret", "");
  broken.Set({"data", "kubeconfig"}, "s3cret?");
  CHECK(absl::StrContains(error_of(broken), "key kubeconfig: it is not Base64"));
  CHECK(
      absl::StrContains(error_of(SecretOf("Not-a-cluster", "s3cret", "s3cret")), "Not-a-cluster"));
}

TEST_CASE_METHOD(Fixture, "what is kept of a Secret is bounded") {
  kube::Object large = SecretOf("large", "plane", std::string(1 << 20, 'x'));
  large.Set({"data", "other"}, absl::Base64Escape(std::string(1 << 20, 'y')));
  large.SetAnnotation("kubectl.kubernetes.io/last-applied-configuration", std::string(5000, 'z'));
  server->Put(api::Secrets(), large);
  REQUIRE(tests::Eventually([&] { return secrets.Read().contains("large"); }));
  CHECK(absl::StrContains(Pair("large").usable.message(), "a kubeconfig may have 65536"));
  const kube::ObjectPtr kept = informers.Find(api::Secrets())->store().Find({kNs, "large"});
  CHECK(kept->root().ToString().size() < 2000);
}

}  // namespace cmd
