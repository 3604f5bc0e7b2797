#include "sandbox/write/status_rules.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/schema.h"

namespace sandbox {
namespace {

bool IsOctet(absl::string_view text) {
  int value = 0;
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, &value) && value <= 255;
}

}  // namespace

void RequireNonNegative(const json::Value& status, absl::Span<const absl::string_view> names,
                        FieldErrors& errors) {
  for (const absl::string_view name : names) {
    if (status[name].AsInt() >= 0) continue;
    errors.Invalid(FieldPath("status", name), status[name], "must be greater than or equal to 0");
  }
}

bool IsIpAddress(absl::string_view text) {
  const std::vector<absl::string_view> octets = absl::StrSplit(text, '.');
  if (octets.size() == 4 && std::all_of(octets.begin(), octets.end(), IsOctet)) return true;
  in6_addr address;
  return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

void RequireIpAddress(const std::string& path, const json::Value& address,
                      const std::vector<std::string>& before, FieldErrors& errors) {
  if (std::find(before.begin(), before.end(), address.AsString()) != before.end()) return;
  if (IsIpAddress(address.AsString())) return;
  errors.Invalid(path, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void RequireHostname(const std::string& path, const json::Value& hostname, FieldErrors& errors) {
  if (const auto s = kube::ValidateDns1123Subdomain(hostname.AsString()); !s.ok()) {
    errors.Invalid(path, hostname, s.message());
  }
  if (IsIpAddress(hostname.AsString())) {
    errors.Invalid(path, hostname, "must be a DNS name, not an IP address");
  }
}

}  // namespace sandbox
