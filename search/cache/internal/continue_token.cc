#include "search/cache/internal/continue_token.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/json.h"

namespace search::internal {
namespace {

// Returns null for a text that is not base64url without padding of a JSON document.
json::Value Decode(absl::string_view text) {
  std::string decoded;
  if (text.empty() || text.back() == '=' || !absl::WebSafeBase64Unescape(text, &decoded)) return {};
  auto root = json::Parse(decoded);
  return root.ok() ? *std::move(root) : json::Value();
}

// Writes the members in this order, as Go writes the fields of a struct; empty ones are left out.
std::string Encode(const std::vector<std::pair<const char*, json::Value>>& members) {
  std::string text = "{";
  for (const auto& [name, value] : members) {
    if (value.is_string() && value.AsString().empty()) continue;
    if (text.size() > 1) text += ',';
    text += json::Write(name) + ":" + json::Write(value, {.html_escape = true});
  }
  return absl::WebSafeBase64Escape(text + "}");
}

}  // namespace

ContinueToken ContinueToken::Parse(absl::string_view text) {
  const json::Value root = Decode(text);
  return {root["rv"].ToString(), root["cluster"].ToString(), root["continue"].ToString()};
}

std::string ContinueToken::ToString() const {
  if (cluster.empty()) return "";
  return Encode({{"rv", version}, {"cluster", cluster}, {"continue", of_member}});
}

std::optional<MemberToken> MemberToken::Parse(absl::string_view text) {
  const json::Value root = Decode(text);
  MemberToken token{root["rv"].AsInt(-1), root["start"].ToString()};
  if (root["v"].AsString() != "meta.k8s.io/v1" || token.start.empty()) return std::nullopt;
  return token;
}

std::string MemberToken::ToString() const {
  return Encode({{"v", "meta.k8s.io/v1"}, {"rv", version}, {"start", start}});
}

}  // namespace search::internal
