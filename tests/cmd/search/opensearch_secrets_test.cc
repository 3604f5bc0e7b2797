#include "cmd/search/opensearch_secrets.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace cmd {
namespace {

kube::Object Secret(const std::string& type, const std::vector<std::string>& keys) {
  kube::Object secret = kube::Object::Make({"", "v1", "Secret"}, {"ns", "os"});
  if (!type.empty()) secret.Set({"type"}, type);
  for (const std::string& key : keys) secret.Set({"data", key}, "aHVudGVyMg==");
  return secret;
}

TEST_CASE("a login goes to an OpenSearch, as upstream sends it") {
  CHECK(MayGoToOpenSearch(Secret("Opaque", {"username", "password"})).ok());
  CHECK(MayGoToOpenSearch(Secret("", {"userName", "password", "ca.crt"})).ok());
  CHECK(MayGoToOpenSearch(Secret("kubernetes.io/basic-auth", {"username", "password"})).ok());
  CHECK(MayGoToOpenSearch(Secret("kubernetes.io/tls", {"tls.crt", "tls.key", "ca.crt"})).ok());
  CHECK(MayGoToOpenSearch(Secret("Opaque", {})).ok());
}

TEST_CASE("what was made for something else goes to no OpenSearch") {
  const auto refused = [](const kube::Object& secret) {
    const absl::Status status = MayGoToOpenSearch(secret);
    CHECK(status.code() == absl::StatusCode::kPermissionDenied);
    CHECK_FALSE(absl::StrContains(status.message(), "hunter2"));
    return std::string(status.message());
  };
  // Those of service accounts, of joining nodes, and of members.
  CHECK(refused(Secret("kubernetes.io/service-account-token", {"token", "ca.crt"})) ==
        "a Secret of the type kubernetes.io/service-account-token goes to no OpenSearch");
  CHECK(absl::StrContains(refused(Secret("bootstrap.kubernetes.io/token", {})), "bootstrap"));
  kube::Object member = Secret("Opaque", {"token", "caBundle"});
  CHECK(refused(member) ==
        "its key token goes to no OpenSearch, unless the Secret has the label "
        "search.karmada.io/opensearch-credentials=true");
  CHECK(absl::StrContains(refused(Secret("Opaque", {"username", "password", "uri"})), "uri"));
  // Its owner says so.
  member.Set({"metadata", "labels", "search.karmada.io/opensearch-credentials"}, "true");
  CHECK(MayGoToOpenSearch(member).ok());
  kube::Object account = Secret("kubernetes.io/service-account-token", {"token"});
  account.Set({"metadata", "labels", "search.karmada.io/opensearch-credentials"}, "true");
  CHECK_FALSE(MayGoToOpenSearch(account).ok());
}

}  // namespace
}  // namespace cmd
