#include "api/members/connection.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/cluster.h"
#include "base/status.h"

namespace members {
namespace {

absl::StatusOr<std::string> SecretValue(const kube::Object& secret, absl::string_view key) {
  std::string value;
  if (!absl::Base64Unescape(secret.Get({"data", key}).AsString(), &value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("secret ", secret.key().ToString(), ": data.", key, " is not base64"));
  }
  return value;
}

// Returns "Accept-Encoding" for "accept-encoding".
std::string CanonicalHeader(absl::string_view name) {
  std::string out(name);
  bool start = true;
  for (char& c : out) {
    c = start ? absl::ascii_toupper(c) : absl::ascii_tolower(c);
    start = c == '-';
  }
  return out;
}

}  // namespace

absl::StatusOr<kube::ConnectionConfig> ConnectionOf(const kube::Object& cluster,
                                                    const SecretLookup& secrets) {
  const api::ClusterView view(cluster);
  const std::string who = absl::StrCat("cluster ", view.name(), ": ");
  if (view.ApiEndpoint().empty()) {
    return absl::FailedPreconditionError(absl::StrCat(who, "spec.apiEndpoint is empty"));
  }
  const kube::ObjectKey reference = view.SecretRef();
  if (reference.name.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        who, "spec.secretRef is missing; it has to name the Secret with the token of the member"));
  }
  const kube::ObjectPtr secret = secrets(reference);
  if (secret == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(who, "secret ", reference.ToString(), " not found"));
  }
  kube::ConnectionConfig config;
  config.server = std::string(view.ApiEndpoint());
  ASSIGN_OR_RETURN(config.token, SecretValue(*secret, api::kSecretToken));
  if (config.token.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(who, "secret ", reference.ToString(),
                                                      " has no token in data.", api::kSecretToken));
  }
  config.insecure_skip_tls_verify = view.InsecureSkipTlsVerification();
  if (!config.insecure_skip_tls_verify) {
    ASSIGN_OR_RETURN(config.ca_pem, SecretValue(*secret, api::kSecretCaBundle));
  }
  config.proxy_url = std::string(view.ProxyUrl());
  for (const auto& [name, values] : view.ProxyHeader()) {
    for (const absl::string_view value : absl::StrSplit(values, ',')) {
      config.proxy_headers.emplace_back(CanonicalHeader(name), std::string(value));
    }
  }
  return config;
}

}  // namespace members
