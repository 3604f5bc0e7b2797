#include "search/proxy/internal/forwarded_headers.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/aggregation/request_fields.h"
#include "kube/server/api_errors.h"

namespace search {
namespace {

constexpr absl::string_view kRemoved[] = {
    "authorization", "proxy-authorization", "cookie", "forwarded", "via", "x-real-ip"};
constexpr absl::string_view kRemovedPrefixes[] = {"x-remote-", "impersonate-"};

bool IsRemoved(absl::string_view name) {
  for (const absl::string_view removed : kRemoved) {
    if (name == removed) return true;
  }
  for (const absl::string_view prefix : kRemovedPrefixes) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  return false;
}

// As client-go's legalHeaderByte: other bytes of the key of an extra are percent-encoded.
bool IsLegalInHeaderName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains("!#$&'*+-.^_`|~", absl::string_view(&c, 1));
}

std::string EscapedKey(absl::string_view key) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : key) {
    if (IsLegalInHeaderName(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return out;
}

bool IsUnchanged(absl::string_view value) {
  const auto is_control = [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); };
  return !value.empty() && absl::StripAsciiWhitespace(value) == value &&
         std::none_of(value.begin(), value.end(), is_control);
}

}  // namespace

absl::Status CheckForwardable(const kube::aggregation::UserInfo& user) {
  bool good = IsUnchanged(user.name) && (user.uid.empty() || IsUnchanged(user.uid)) &&
              std::all_of(user.groups.begin(), user.groups.end(), IsUnchanged);
  for (const auto& [key, values] : user.extra) {
    good = good && std::all_of(values.begin(), values.end(), [](absl::string_view value) {
             return value.empty() || IsUnchanged(value);
           });
  }
  if (good) return absl::OkStatus();
  return kube::server::BadRequest(
      "the request cannot be passed on: the user's name, uid, a group or an extra value is empty, "
      "or has white space around it or a control character");
}

Headers ImpersonationHeaders(const kube::aggregation::UserInfo& user, Identity identity) {
  Headers out = {{"Impersonate-User", user.name}};
  for (const std::string& group : user.groups) {
    if (group == "system:authenticated" || group == "system:unauthenticated") continue;
    out.emplace_back("Impersonate-Group", group);
  }
  if (identity == Identity::kNameAndGroups) return out;
  if (!user.uid.empty()) out.emplace_back("Impersonate-Uid", user.uid);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) {
      out.emplace_back(absl::StrCat("Impersonate-Extra-", EscapedKey(key)), value);
    }
  }
  return out;
}

void RemoveIdentity(base::HttpRequest& request) {
  kube::aggregation::RemoveFields(request, IsRemoved);
}

}  // namespace search
