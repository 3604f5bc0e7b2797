#include "kube/client/internal/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace kube {
namespace {

// "user:secret@host:port" of a URL.
absl::string_view AuthorityOf(absl::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != absl::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

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

void SetCredentials(absl::string_view user, absl::string_view password, ProxySettings& out) {
  out.username = std::string(user);
  out.password = std::string(password);
}

// Messages never show the URL: it may carry a password.
absl::StatusOr<ProxySettings> ParseProxyUrl(absl::string_view url, absl::string_view source) {
  if (!absl::StrContains(url, "://")) {
    return ParseProxyUrl(absl::StrCat("http://", url), source);
  }
  if (!absl::StartsWith(url, "http://")) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": only http:// proxies are supported"));
  }
  absl::string_view authority = AuthorityOf(url);
  ProxySettings out;
  const size_t at = authority.rfind('@');
  if (at != absl::string_view::npos) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(authority.substr(0, at), absl::MaxSplits(':', 1));
    SetCredentials(PercentDecode(parts.first), PercentDecode(parts.second), out);
    authority.remove_prefix(at + 1);
  }
  if (authority.empty()) return absl::InvalidArgumentError(absl::StrCat(source, ": no host"));
  // The library's own default is 8080.
  const bool has_port =
      authority.rfind(':') != absl::string_view::npos && !absl::EndsWith(authority, "]");
  out.url = absl::StrCat("http://", authority, has_port ? "" : ":80");
  return out;
}

absl::Status ApplyHeaders(const ConnectionConfig& config, ProxySettings& out) {
  for (const auto& [name, value] : config.proxy_headers) {
    std::string decoded;
    absl::string_view basic = value;
    if (!absl::EqualsIgnoreCase(name, "Proxy-Authorization") ||
        !absl::ConsumePrefix(&basic, "Basic ") || !absl::Base64Unescape(basic, &decoded)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "proxy header ", name, ": only \"Proxy-Authorization: Basic\" can be sent to a proxy"));
    }
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(decoded, absl::MaxSplits(':', 1));
    SetCredentials(parts.first, parts.second, out);
  }
  return absl::OkStatus();
}

// The bytes of an address; IPv4 ones in their IPv6 form, so that there is one kind only.
std::optional<std::vector<unsigned char>> AddressOf(const std::string& text) {
  std::vector<unsigned char> bytes(16);
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) != 1) return std::nullopt;
  bytes[10] = bytes[11] = 0xff;
  return bytes;
}

bool InNetwork(const std::string& host, absl::string_view network) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(network, absl::MaxSplits('/', 1));
  const auto address = AddressOf(host), base = AddressOf(parts.first);
  int bits = 0;
  if (!address || !base || !absl::SimpleAtoi(parts.second, &bits)) return false;
  if (!absl::StrContains(parts.first, ':')) bits += 96;
  if (bits < 0 || bits > 128) return false;
  for (int i = 0; i < bits; ++i) {
    if ((((*address)[i / 8] ^ (*base)[i / 8]) >> (7 - i % 8)) & 1) return false;
  }
  return true;
}

// One entry of $NO_PROXY: "*", a network, an address, or a name that stands for its sub-domains
// too.
bool IsExcepted(const std::string& host, absl::string_view rule) {
  if (rule == "*" || absl::EqualsIgnoreCase(host, rule)) return true;
  if (absl::StrContains(rule, '/')) return InNetwork(host, rule);
  absl::ConsumePrefix(&rule, "*");
  const std::string suffix =
      absl::StrCat(absl::StartsWith(rule, ".") ? "" : ".", absl::AsciiStrToLower(rule));
  return absl::EndsWith(absl::AsciiStrToLower(host), suffix);
}

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || InNetwork(host, "127.0.0.0/8") || InNetwork(host, "::1/128");
}

}  // namespace

std::string HostOf(absl::string_view url) {
  absl::string_view authority = AuthorityOf(url);
  const size_t at = authority.rfind('@');
  if (at != absl::string_view::npos) authority.remove_prefix(at + 1);
  if (absl::ConsumePrefix(&authority, "[")) {
    return std::string(authority.substr(0, authority.find(']')));
  }
  return std::string(authority.substr(0, authority.find(':')));
}

bool IsIpAddress(const std::string& host) { return AddressOf(host).has_value(); }

absl::StatusOr<ProxySettings> ProxySettingsOf(
    const ConnectionConfig& config, const std::function<std::string(const char*)>& variable) {
  if (!config.proxy_url.empty()) {
    ASSIGN_OR_RETURN(ProxySettings out, ParseProxyUrl(config.proxy_url, "proxy-url"));
    RETURN_IF_ERROR(ApplyHeaders(config, out));
    return out;
  }
  if (config.ignore_proxy_environment) return ProxySettings();
  auto either = [&](const char* upper, const char* lower) {
    const std::string value = variable(upper);
    return value.empty() ? variable(lower) : value;
  };
  const bool https = absl::StartsWith(config.server, "https:");
  const std::string url =
      https ? either("HTTPS_PROXY", "https_proxy") : either("HTTP_PROXY", "http_proxy");
  const std::string host = HostOf(config.server);
  if (url.empty() || IsThisMachine(host)) return ProxySettings();
  const std::string exceptions = either("NO_PROXY", "no_proxy");
  for (absl::string_view rule : absl::StrSplit(exceptions, ',', absl::SkipEmpty())) {
    if (IsExcepted(host, absl::StripAsciiWhitespace(rule))) return ProxySettings();
  }
  return ParseProxyUrl(url, https ? "$HTTPS_PROXY" : "$HTTP_PROXY");
}

}  // namespace kube
