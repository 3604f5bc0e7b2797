// Which Secrets of the control plane karmada-search knows.
#include "cmd/search/referenced_secrets.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/yaml.h"
#include "tests/cmd/search/search_plane.h"
#include "tests/support/eventually.h"

namespace tests {
namespace {

const kube::Resource kSecrets{{"", "v1", "Secret"}, "secrets", true};

class SecretsFixture {
 protected:
  void Put(const std::string& name, const std::string& value) {
    plane_.Create(
        plane_.cluster("karmada"), kSecrets,
        absl::StrCat("{apiVersion: v1, kind: Secret, metadata: {namespace: default, name: ", name,
                     "}, stringData: {token: ", value, "}}"));
  }
  // Returns the base64 text of the token; "" when the Secret is not known.
  std::string Token(const std::string& name) {
    const kube::ObjectPtr secret = secrets_.Find({"default", name});
    return secret == nullptr ? "" : secret->Get({"data", "token"}).ToString();
  }
  bool WasReported(const std::string& name) {
    absl::MutexLock lock(&mu_);
    return reported_.contains({"default", name});
  }

  SearchPlane plane_;
  absl::Mutex mu_;
  std::set<kube::ObjectKey> reported_;
  cmd::ReferencedSecrets secrets_{plane_.cluster("karmada"), nullptr, base::RealClock(),
                                  [this](const kube::ObjectKey& key) {
                                    absl::MutexLock lock(&mu_);
                                    reported_.insert(key);
                                  }};
};

TEST_CASE_METHOD(SecretsFixture, "only Secrets that are referenced are known and reported") {
  Put("a", "x");
  Put("b", "z");
  CHECK(secrets_.HasSynced());  // There is nothing to read.
  secrets_.SetReferences({{"default", "a"}, {"nowhere", "c"}});
  REQUIRE(Eventually([&] { return secrets_.HasSynced(); }));
  CHECK(Token("a") == "eA==");
  CHECK(WasReported("a"));
  CHECK(secrets_.Find({"default", "b"}) == nullptr);
  CHECK_FALSE(WasReported("b"));

  // What was known stays so while a further one is read, whose data was not kept.
  secrets_.SetReferences({{"default", "a"}, {"default", "b"}});
  CHECK(Token("a") == "eA==");
  REQUIRE(Eventually([&] { return Token("b") == "eg=="; }));
  CHECK(Token("a") == "eA==");

  REQUIRE(plane_.cluster("karmada").Delete(kSecrets, {"default", "a"}, {}, {}).ok());
  CHECK(Eventually([&] { return secrets_.Find({"default", "a"}) == nullptr; }));
  secrets_.SetReferences({});
  CHECK(secrets_.Find({"default", "b"}) == nullptr);
}

TEST_CASE_METHOD(SecretsFixture, "a Secret that may not be read keeps nobody waiting") {
  plane_.fleet().control_plane().faults().FailNext(1000, 403, "", "/namespaces/closed/secrets");
  Put("a", "x");
  secrets_.SetReferences({{"closed", "c"}, {"default", "a"}});
  CHECK(Eventually([&] { return secrets_.HasSynced(); }));
  CHECK(Token("a") == "eA==");
  CHECK(absl::IsPermissionDenied(secrets_.ErrorOf("closed")));
  CHECK(secrets_.ErrorOf("default").ok());
  CHECK(secrets_.ErrorOf("nowhere").ok());
}

}  // namespace
}  // namespace tests
