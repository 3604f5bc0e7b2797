#include "kube/aggregation/authentication_config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube::aggregation {
namespace {

using Strings = std::vector<std::string>;

absl::StatusOr<std::shared_ptr<const tls::ClientAuthority>> ParseAuthority(const json::Value& data,
                                                                           absl::string_view key) {
  const absl::string_view pem = data[key].AsString();
  if (pem.empty()) return absl::InvalidArgumentError(absl::StrCat("the key ", key, " is missing"));
  auto authority = tls::ClientAuthority::Create(pem);
  if (!authority.ok()) return base::Annotate(authority.status(), "the key ", key);
  return authority;
}

absl::Status NotAList(absl::string_view key) {
  return absl::InvalidArgumentError(
      absl::StrCat("the key ", key, " is not a JSON list of strings"));
}

// A key that is absent is an empty list, as in upstream's deserializeStrings.
absl::StatusOr<Strings> ParseStrings(const json::Value& data, absl::string_view key) {
  const absl::string_view text = data[key].AsString();
  if (text.empty()) return Strings();
  const auto list = json::Parse(text);
  if (!list.ok() || !list->is_array()) return NotAList(key);
  Strings out;
  for (const json::Value& item : list->items()) {
    if (!item.is_string()) return NotAList(key);
    out.push_back(item.ToString());
  }
  return out;
}

absl::StatusOr<Strings> ParseNames(const json::Value& data, absl::string_view key) {
  ASSIGN_OR_RETURN(Strings names, ParseStrings(data, key));
  for (std::string& name : names) {
    name = absl::AsciiStrToLower(absl::StripAsciiWhitespace(name));
    if (name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the key ", key, " has an empty name"));
    }
  }
  return names;
}

absl::Status CheckNames(absl::string_view flag, const Strings& names) {
  const bool has_empty = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return absl::StripAsciiWhitespace(name).empty();
  });
  if (!has_empty) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": empty value"));
}

}  // namespace

const RequestHeaderNames& AuthenticationConfig::header_names() const {
  static const RequestHeaderNames* const standard =
      new RequestHeaderNames(RequestHeaderNames::Standard());
  return front_proxies ? front_proxies->names : *standard;
}

absl::Status Validate(const AuthenticationOptions& options) {
  const RequestHeaderNames& names = options.requestheader_names;
  RETURN_IF_ERROR(CheckNames("requestheader-username-headers", names.user));
  RETURN_IF_ERROR(CheckNames("requestheader-uid-headers", names.uid));
  RETURN_IF_ERROR(CheckNames("requestheader-group-headers", names.group));
  RETURN_IF_ERROR(CheckNames("requestheader-extra-headers-prefix", names.extra_prefix));
  RETURN_IF_ERROR(CheckNames("requestheader-allowed-names", options.requestheader_allowed_names));
  if (!options.requestheader_client_ca_file.empty() && names.user.empty()) {
    return absl::InvalidArgumentError(
        "--requestheader-client-ca-file needs --requestheader-username-headers");
  }
  if (options.requestheader_client_ca_file.empty() &&
      !options.requestheader_allowed_names.empty()) {
    return absl::InvalidArgumentError(
        "--requestheader-allowed-names needs --requestheader-client-ca-file");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const tls::ClientAuthority>> ParseClients(const json::Value& data) {
  return ParseAuthority(data, "client-ca-file");
}

absl::StatusOr<FrontProxies> ParseFrontProxies(const json::Value& data) {
  FrontProxies proxies;
  ASSIGN_OR_RETURN(proxies.authority, ParseAuthority(data, "requestheader-client-ca-file"));
  ASSIGN_OR_RETURN(proxies.allowed_names, ParseStrings(data, "requestheader-allowed-names"));
  ASSIGN_OR_RETURN(proxies.names.user, ParseNames(data, "requestheader-username-headers"));
  ASSIGN_OR_RETURN(proxies.names.uid, ParseNames(data, "requestheader-uid-headers"));
  ASSIGN_OR_RETURN(proxies.names.group, ParseNames(data, "requestheader-group-headers"));
  ASSIGN_OR_RETURN(proxies.names.extra_prefix,
                   ParseNames(data, "requestheader-extra-headers-prefix"));
  return proxies;
}

}  // namespace kube::aggregation
