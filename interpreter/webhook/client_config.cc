// Checks and reads in one pass, in the words of the apiserver's own validation of webhooks, since
// upstream's admission uses that. Mistakes are collected; after one in the URL nothing is read from
// it. The CA bundle is tried as TLS would use it, so that an unusable one shows here and not with
// the first call. How a Service is reached is decided in hook_address.h.

#include "interpreter/webhook/client_config.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/tls.h"
#include "kube/meta/selector.h"

namespace interpreter::webhook {

namespace {

constexpr char kUrlForm[] = "; desired format: https://host[:port]/path";
constexpr int kMaxPort = 65535;

// Returns the path as client-go sends it: with one slash in front and none at the end.
std::string CleanPath(absl::string_view path) {
  while (absl::ConsumeSuffix(&path, "/")) {
  }
  while (absl::ConsumePrefix(&path, "/")) {
  }
  return absl::StrCat("/", path);
}

bool HasSpaceOrControl(absl::string_view text) {
  for (const char c : text) {
    if (c <= ' ' || c == 0x7f) return true;
  }
  return false;
}

bool IsPort(absl::string_view text) {
  int port = 0;
  return absl::SimpleAtoi(text, &port) && port > 0 && port <= kMaxPort;
}

// Returns whether the text is "host" or "host:port", with an IPv6 address in brackets.
bool IsHostAndPort(absl::string_view text) {
  absl::string_view host = text.substr(0, text.rfind(':'));
  absl::string_view port = host.size() < text.size() ? text.substr(host.size() + 1) : "443";
  // Without a port the last colon is one of the address.
  if (absl::StartsWith(text, "[") && absl::EndsWith(text, "]")) {
    host = text;
    port = "443";
  }
  if (absl::ConsumePrefix(&host, "[")) return absl::ConsumeSuffix(&host, "]") && IsPort(port);
  return !host.empty() && !absl::StrContains(host, ':') && IsPort(port);
}

// Takes the URL apart and checks it as apiserver's webhook.ValidateWebhookURL does.
void ReadUrl(const std::string& url, const std::string& field, Problems& problems,
             ClientConfig& out) {
  const size_t before = problems.size();
  const auto wrong = [&](const json::Value& value, absl::string_view why) {
    problems.Invalid(field, value, absl::StrCat(why, kUrlForm));
  };
  absl::string_view rest = url;
  if (HasSpaceOrControl(rest)) return wrong(url, "url must be a valid URL");
  const size_t scheme = rest.find("://");
  const absl::string_view given = scheme == absl::string_view::npos ? "" : rest.substr(0, scheme);
  if (!absl::EqualsIgnoreCase(given, "https")) {
    wrong(given, "'https' is the only allowed URL scheme");
  }
  if (scheme != absl::string_view::npos) rest.remove_prefix(scheme + 3);
  const size_t end = rest.find_first_of("/?#");
  const absl::string_view authority = rest.substr(0, end);
  const absl::string_view tail = end == absl::string_view::npos ? "" : rest.substr(end);
  if (authority.empty()) wrong("", "host must be specified");
  if (absl::StrContains(authority, '@')) wrong(url, "user information is not permitted in the URL");
  if (absl::StrContains(tail, '#')) wrong(url, "fragments are not permitted in the URL");
  if (absl::StrContains(tail, '?')) wrong(url, "query parameters are not permitted in the URL");
  if (problems.size() != before) return;
  if (!IsHostAndPort(authority)) return wrong(url, "url must be a valid URL");
  out.server = absl::StrCat("https://", authority);
  out.path = CleanPath(tail);
}

void CheckServicePath(absl::string_view path, const std::string& field, Problems& problems) {
  if (path.empty() || path == "/") return;
  if (!absl::StartsWith(path, "/")) {
    return problems.Invalid(field, path, "must start with a '/'");
  }
  const std::vector<std::string> segments =
      absl::StrSplit(absl::StripSuffix(path.substr(1), "/"), '/');
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].empty()) {
      problems.Invalid(field, path, absl::StrCat("segment[", i, "] may not be empty"));
      continue;
    }
    const absl::Status valid = kube::ValidateDns1123Subdomain(segments[i]);
    if (!valid.ok()) {
      problems.Invalid(field, path, absl::StrCat("segment[", i, "]: ", valid.message()));
    }
  }
}

// Reads a Service and checks it as apiserver's webhook.ValidateWebhookService does.
void ReadService(const json::Value& service, const std::string& field, Problems& problems,
                 ClientConfig& out) {
  ServiceReference reference;
  reference.ns = service["namespace"].ToString();
  reference.name = service["name"].ToString();
  if (reference.name.empty()) {
    problems.Required(Child(field, "name"), "service name is required");
  }
  if (reference.ns.empty()) {
    problems.Required(Child(field, "namespace"), "service namespace is required");
  }
  const int64_t port = service["port"].AsInt(reference.port);
  if (port < 1 || port > kMaxPort) {
    problems.Invalid(Child(field, "port"), port,
                     "port is not valid: must be between 1 and 65535, inclusive");
  }
  reference.port = static_cast<int>(port);
  CheckServicePath(service["path"].AsString(), Child(field, "path"), problems);
  out.path = CleanPath(service["path"].AsString());
  out.service = std::move(reference);
}

void ReadCaBundle(const json::Value& bundle, const std::string& field, Problems& problems,
                  ClientConfig& out) {
  const absl::string_view text = bundle.AsString();
  if (text.empty()) return;
  if (!absl::Base64Unescape(text, &out.ca_pem)) {
    return problems.Invalid(field, "<ca bundle>", "it is not base64");
  }
  const absl::Status parsed = tls::ClientCredentials::Create({.ca_pem = out.ca_pem}).status();
  if (!parsed.ok()) problems.Invalid(field, "<ca bundle>", parsed.message());
}

}  // namespace

ClientConfig ReadClientConfig(const json::Value& config, const std::string& field,
                              Problems& problems) {
  ClientConfig out;
  const json::Value &url = config["url"], &service = config["service"];
  if (url.is_null() == service.is_null()) {
    problems.Required(field, "exactly one of url or service is required");
  } else if (service.is_null()) {
    ReadUrl(url.ToString(), Child(field, "url"), problems, out);
  } else {
    ReadService(service, Child(field, "service"), problems, out);
  }
  ReadCaBundle(config["caBundle"], Child(field, "caBundle"), problems, out);
  return out;
}

}  // namespace interpreter::webhook
