// Takes URLs of servers and proxies apart. They may contain a password, so no error quotes more
// than the part that is wrong, and not even that once there is an "@": a password with an unescaped
// "/" or "#" would be cut into what looks like a host. Host names are not resolved here.

#include "kube/http/internal/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {
namespace {

constexpr int kMaxPort = 65535;
constexpr size_t kMaxHostName = 253;  // The limit of DNS; SOCKS has one byte for the length.

// Returns 0 for a scheme that is not known.
int DefaultPortOf(absl::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  if (scheme == "socks5" || scheme == "socks5h") return 1080;
  return 0;
}

// A URL, and what it is, for messages.
struct Url {
  absl::string_view text, what;
};

bool IsAddress(int family, const std::string& text) {
  in6_addr address;
  return inet_pton(family, text.c_str(), &address) == 1;
}

bool IsHostName(absl::string_view host) {
  // The characters that resolvers and certificates allow, and "_", which the names of some clusters
  // have.
  return !host.empty() && host.size() <= kMaxHostName &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_';
         });
}

// Returns an error about a part of a URL.
absl::Status Malformed(const Url& url, absl::string_view part, absl::string_view why) {
  if (!absl::StrContains(url.text, '@')) {
    return absl::InvalidArgumentError(absl::StrCat(url.what, ": \"", part, "\" is not ", why));
  }
  // The part may be one of the password, if that has an unescaped "/", "?", "#" or "://".
  return absl::InvalidArgumentError(
      absl::StrCat(url.what, ": what stands in the place of ", why,
                   " is none; a user name or password needs %2F for \"/\", %3F for \"?\" and "
                   "%23 for \"#\""));
}

absl::Status ParseHost(absl::string_view authority, const Url& url, Endpoint& out) {
  absl::string_view port;
  if (absl::StartsWith(authority, "[")) {
    const size_t end = authority.find(']');
    if (end == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(url.what, ": an IPv6 address lacks its \"]\""));
    }
    out.host = absl::AsciiStrToLower(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
    if (!IsAddress(AF_INET6, out.host)) return Malformed(url, out.host, "an IPv6 address");
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    out.host = absl::AsciiStrToLower(authority.substr(0, colon));
    port = authority.substr(colon);
    if (!IsHostName(out.host)) return Malformed(url, out.host, "a host name or address");
  }
  if (port.empty()) return absl::OkStatus();
  const bool number = absl::SimpleAtoi(port.substr(1), &out.port) && port[0] == ':';
  if (number && out.port > 0 && out.port <= kMaxPort) return absl::OkStatus();
  return Malformed(url, port, "a port");
}

}  // namespace

std::string Endpoint::Authority() const {
  const bool bracketed = absl::StrContains(host, ':');
  return absl::StrCat(bracketed ? "[" : "", host, bracketed ? "]" : "", ":", port);
}

bool Endpoint::is_ip_address() const {
  return IsAddress(AF_INET, host) || IsAddress(AF_INET6, host);
}

std::string WithoutUserInfo(absl::string_view url) {
  const size_t scheme_end = url.find("://");
  const size_t begin = scheme_end == absl::string_view::npos ? 0 : scheme_end + 3;
  const absl::string_view rest = url.substr(begin);
  const size_t at = rest.substr(0, rest.find_first_of("/?#")).rfind('@');
  const size_t host = at == absl::string_view::npos ? 0 : at + 1;
  return absl::StrCat(url.substr(0, begin), rest.substr(host));
}

std::string HostOf(absl::string_view url) {
  const std::string plain = WithoutUserInfo(url);
  const size_t scheme_end = plain.find("://");
  const std::string rest = scheme_end == std::string::npos ? plain : plain.substr(scheme_end + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view url, absl::string_view what) {
  Endpoint out;
  const size_t scheme_end = url.find("://");
  if (scheme_end == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": the URL has no scheme"));
  }
  out.scheme = absl::AsciiStrToLower(url.substr(0, scheme_end));
  out.port = DefaultPortOf(out.scheme);
  if (out.port == 0) {
    return Malformed({url, what}, out.scheme, "a scheme that is supported");
  }
  const Url whole{url, what};
  url.remove_prefix(scheme_end + 3);
  absl::string_view authority = url.substr(0, url.find_first_of("/?#"));
  url.remove_prefix(authority.size());
  // A password may contain an unescaped "@"; a host cannot.
  const size_t at = authority.rfind('@');
  if (at != absl::string_view::npos) {
    out.user_info = std::string(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  RETURN_IF_ERROR(ParseHost(authority, whole, out));
  out.path = std::string(url.substr(0, url.find_first_of("?#")));
  // Paths of requests begin with a slash and are put behind it.
  while (absl::EndsWith(out.path, "/")) out.path.pop_back();
  return out;
}

}  // namespace kube
