#include "cmd/search/opensearch_secrets.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "base/json.h"

namespace cmd {
namespace {

constexpr std::array<absl::string_view, 4> kTypes = {"", "Opaque", "kubernetes.io/basic-auth",
                                                     "kubernetes.io/tls"};
// Keys of a login with a password or a client certificate. A token is not one of them.
constexpr std::array<absl::string_view, 8> kLoginKeys = {
    "username", "userName", "password", "ca.crt",
    "caBundle", "tls.crt",  "tls.key",  "insecureSkipTLSVerify"};

template <size_t size>
bool Contains(const std::array<absl::string_view, size>& all, absl::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

absl::Status MayGoToOpenSearch(const kube::Object& secret) {
  const absl::string_view type = secret.root()["type"].AsString();
  if (!Contains(kTypes, type)) {
    return absl::PermissionDeniedError(
        absl::StrCat("a Secret of the type ", type, " goes to no OpenSearch"));
  }
  if (secret.labels()[api::kOpenSearchCredentialsLabel].AsString() == "true") return {};
  for (const json::Member& member : secret.root()["data"].members()) {
    if (Contains(kLoginKeys, member.name())) continue;
    return absl::PermissionDeniedError(absl::StrCat(
        "its key ", member.name(), " goes to no OpenSearch, unless the Secret has the label ",
        api::kOpenSearchCredentialsLabel, "=true"));
  }
  return absl::OkStatus();
}

}  // namespace cmd
