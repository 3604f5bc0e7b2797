#include "base/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace base {
namespace {

constexpr int kMaxPort = 65535;

bool IsHostCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains(".-_:%", absl::string_view(&c, 1));
}

// Returns whether it is an IPv6 address, if need be with a zone: "fe80::1%eth0".
bool IsIpv6(absl::string_view text) {
  in6_addr address;
  return inet_pton(AF_INET6, std::string(text.substr(0, text.find('%'))).c_str(), &address) == 1;
}

bool IsNumber(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(absl::StrCat("address \"", text, "\" is not host:port"));
  };
  const size_t colon = text.rfind(':');
  int port = 0;
  // SimpleAtoi takes signs and blanks, too.
  if (colon == absl::string_view::npos || !IsNumber(text.substr(colon + 1)) ||
      !absl::SimpleAtoi(text.substr(colon + 1), &port) || port > kMaxPort) {
    return invalid();
  }
  absl::string_view host = text.substr(0, colon);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
    if (!IsIpv6(host)) return invalid();
  } else if (absl::StrContains(host, ":")) {
    return invalid();
  }
  if (!std::all_of(host.begin(), host.end(), IsHostCharacter)) return invalid();
  return ListenAddress{std::string(host), static_cast<uint16_t>(port)};
}

}  // namespace base
