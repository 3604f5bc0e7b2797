// Decides which proxy a connection takes: the one of the kubeconfig, else what the environment
// says, by the rules of Go's httpproxy package (which variables, and which entries of $NO_PROXY
// match). The environment is read each time, and the result depends on nothing else. Addresses of
// IPv4 are compared in their IPv6 form, so that a network written in one matches a host written in
// the other.

#include "kube/http/internal/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "kube/http/internal/endpoint.h"
#include "kube/http/internal/request_text.h"

namespace kube {
namespace {

using Kind = ProxySettings::Kind;

std::string PercentDecode(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      out += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

absl::StatusOr<Kind> KindOf(absl::string_view scheme, absl::string_view source) {
  if (scheme == "http") return Kind::kHttp;
  if (scheme == "https") return Kind::kHttps;
  if (absl::StartsWith(scheme, "socks5")) return Kind::kSocks5;
  return absl::InvalidArgumentError(
      absl::StrCat(source, ": the scheme \"", scheme, "\" is not http, https, socks5 or socks5h"));
}

absl::StatusOr<ProxySettings> ParseProxyUrl(absl::string_view url, absl::string_view source) {
  if (!absl::StrContains(url, "://")) {
    return ParseProxyUrl(absl::StrCat("http://", url), source);
  }
  ASSIGN_OR_RETURN(const Endpoint endpoint, ParseEndpoint(url, source));
  ProxySettings out;
  ASSIGN_OR_RETURN(out.kind, KindOf(endpoint.scheme, source));
  out.host = endpoint.host;
  out.port = endpoint.port;
  const std::pair<absl::string_view, absl::string_view> user =
      absl::StrSplit(endpoint.user_info, absl::MaxSplits(':', 1));
  out.username = PercentDecode(user.first);
  out.password = PercentDecode(user.second);
  return out;
}

// The bytes of an address; IPv4 addresses in their IPv6 form, so that there is only one form.
using AddressBytes = std::array<unsigned char, 16>;
std::optional<AddressBytes> AddressOf(const std::string& text) {
  AddressBytes bytes = {};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) != 1) return std::nullopt;
  bytes[10] = bytes[11] = 0xff;
  return bytes;
}

struct Network {
  AddressBytes base;
  int bits;
};
// Returns nullopt for what is not "address/bits".
std::optional<Network> NetworkOf(absl::string_view text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('/', 1));
  const auto base = AddressOf(parts.first);
  int bits = 0;
  if (!base || !absl::SimpleAtoi(parts.second, &bits) || bits < 0) return std::nullopt;
  // The prefix of an IPv4 address in its IPv6 form.
  if (!absl::StrContains(parts.first, ':')) bits += 96;
  if (bits > 128) return std::nullopt;
  return Network{*base, bits};
}

bool Contains(const Network& network, const std::string& host) {
  const auto address = AddressOf(host);
  if (!address) return false;
  for (int i = 0; i < network.bits; ++i) {
    if ((((*address)[i / 8] ^ network.base[i / 8]) >> (7 - i % 8)) & 1) return false;
  }
  return true;
}

// Splits "host", "host:port", "[v6]:port" or "v6" of a rule; the port is "" when there is none.
std::pair<std::string, std::string> SplitPort(const std::string& rule) {
  if (absl::StartsWith(rule, "[")) {
    const size_t end = rule.find(']');
    if (end == std::string::npos) return {rule, ""};
    const bool port = end + 1 < rule.size() && rule[end + 1] == ':';
    return {rule.substr(1, end - 1), port ? rule.substr(end + 2) : ""};
  }
  const size_t colon = rule.find(':');
  // Several colons mean an IPv6 address without brackets.
  if (colon == std::string::npos || rule.find(':', colon + 1) != std::string::npos) {
    return {rule, ""};
  }
  return {rule.substr(0, colon), rule.substr(colon + 1)};
}

// Returns whether one entry of $NO_PROXY matches: "*", a network, an address or a name, the latter
// two with a port or without. A name matches its sub-domains too, one that begins with "." or "*."
// only them.
bool IsExcepted(const Endpoint& server, const std::string& rule) {
  if (rule == "*") return true;
  if (const auto network = NetworkOf(rule)) return Contains(*network, server.host);
  std::pair<std::string, std::string> parts = SplitPort(rule);
  std::string& host = parts.first;
  if (!parts.second.empty() && parts.second != absl::StrCat(server.port)) return false;
  if (host.empty()) return false;
  if (const auto address = AddressOf(host)) return AddressOf(server.host) == address;
  if (absl::StartsWith(host, "*.")) host.erase(0, 1);
  if (host[0] == '.') return absl::EndsWith(server.host, host);
  return server.host == host || absl::EndsWith(server.host, absl::StrCat(".", host));
}

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || Contains(*NetworkOf("127.0.0.0/8"), host) ||
         Contains(*NetworkOf("::1/128"), host);
}

absl::StatusOr<ProxySettings> WithHeaders(ProxySettings proxy, const ConnectionConfig& config) {
  proxy.headers = config.proxy_headers;
  const RequestText request{.method = "CONNECT", .target = "/", .headers = proxy.headers};
  RETURN_IF_ERROR(base::Annotate(CheckRequest(request), "proxy"));
  return proxy;
}

}  // namespace

std::string ProxySettings::Name() const {
  const char* scheme = kind == Kind::kSocks5 ? "socks5" : kind == Kind::kHttps ? "https" : "http";
  const Endpoint endpoint{.host = host, .port = port};
  return absl::StrCat(scheme, "://", endpoint.Authority());
}

std::string ProxySettings::Authorization() const {
  if (username.empty() && password.empty()) return "";
  return absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(username, ":", password)));
}

absl::StatusOr<ProxySettings> ProxySettingsOf(
    const ConnectionConfig& config, const std::function<std::string(const char*)>& variable) {
  if (!config.proxy_url.empty()) {
    ASSIGN_OR_RETURN(ProxySettings out, ParseProxyUrl(config.proxy_url, "proxy-url"));
    return WithHeaders(std::move(out), config);
  }
  if (config.ignore_proxy_environment) return ProxySettings();
  // Go looks at the upper-case name first.
  auto either = [&](const char* upper, const char* lower) {
    const std::string value = variable(upper);
    return value.empty() ? variable(lower) : value;
  };
  ASSIGN_OR_RETURN(const Endpoint server, ParseEndpoint(config.server, "server"));
  const bool https = server.scheme == "https";
  const std::string url =
      https ? either("HTTPS_PROXY", "https_proxy") : either("HTTP_PROXY", "http_proxy");
  // A proxy could not reach this machine under that name.
  if (url.empty() || IsThisMachine(server.host)) return ProxySettings();
  const std::string exceptions = either("NO_PROXY", "no_proxy");
  for (absl::string_view rule : absl::StrSplit(exceptions, ',', absl::SkipEmpty())) {
    rule = absl::StripAsciiWhitespace(rule);
    if (!rule.empty() && IsExcepted(server, absl::AsciiStrToLower(rule))) return ProxySettings();
  }
  ASSIGN_OR_RETURN(ProxySettings out, ParseProxyUrl(url, https ? "$HTTPS_PROXY" : "$HTTP_PROXY"));
  return WithHeaders(std::move(out), config);
}

absl::StatusOr<ProxySettings> ProxySettingsOf(const ConnectionConfig& config) {
  return ProxySettingsOf(config, [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  });
}

}  // namespace kube
