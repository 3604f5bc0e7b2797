// Reads identities from header fields and removes them again. What is read here is only a claim:
// UserOfFields counts only if the request is from a front proxy whose certificate was verified, and
// a token has to be reviewed. Everything that carries a credential or claims an identity is removed
// before the request reaches a handler, because a handler may forward the request to another
// server, which would see it. Requests have two forms of their fields, `fields` (as sent) and
// `headers` (joined); both are cleaned.

#include "kube/aggregation/request_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/random.h"
#include "base/utf8.h"

namespace kube::aggregation {
namespace {

constexpr char kAuthorization[] = "authorization";
constexpr char kSubprotocol[] = "sec-websocket-protocol";
constexpr char kTokenProtocol[] = "base64url.bearer.authorization.k8s.io.";
constexpr char kRemotePrefix[] = "x-remote-";
constexpr size_t kMaxAuditIdBytes = 64;

// Go's url.PathUnescape, which refuses the whole text for one malformed escape.
std::optional<std::string> PathUnescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !absl::ascii_isxdigit(text[i + 1]) ||
        !absl::ascii_isxdigit(text[i + 2])) {
      return std::nullopt;
    }
    out += absl::HexStringToBytes(text.substr(i + 1, 2));
    i += 2;
  }
  return out;
}

// An empty field counts as absent, and the next name is tried.
std::string FirstValue(const base::HttpRequest& request, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::vector<absl::string_view> values = ValuesOf(request, name);
    if (!values.empty() && !values.front().empty()) return std::string(values.front());
  }
  return "";
}

bool StartsWithOneOf(absl::string_view name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return absl::StartsWith(name, prefix); });
}

bool IsOneOf(absl::string_view name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsWebSocket(const base::HttpRequest& request) {
  return absl::EqualsIgnoreCase(request.Header("upgrade"), "websocket");
}

std::vector<absl::string_view> SubprotocolsOf(const base::HttpRequest& request) {
  std::vector<absl::string_view> all;
  for (absl::string_view value : ValuesOf(request, kSubprotocol)) {
    for (absl::string_view protocol : absl::StrSplit(value, ',')) {
      all.push_back(absl::StripAsciiWhitespace(protocol));
    }
  }
  return all;
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
    const size_t length = ascii ? 1 : base::Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

absl::StatusOr<std::string> DecodeToken(absl::string_view encoded) {
  std::string token;
  // The encoding has no padding (Go's base64.RawURLEncoding).
  if (absl::StrContains(encoded, '=') || !absl::WebSafeBase64Unescape(encoded, &token)) {
    return absl::UnauthenticatedError("invalid base64.bearer.authorization token encoding");
  }
  if (!IsUtf8(token)) {
    return absl::UnauthenticatedError("invalid base64.bearer.authorization token");
  }
  return token;
}

// Upstream's websocket.ProtocolAuthenticator.
absl::StatusOr<std::string> SubprotocolToken(const base::HttpRequest& request) {
  if (!IsWebSocket(request)) return "";
  std::optional<absl::string_view> encoded;
  bool others = false;
  for (absl::string_view protocol : SubprotocolsOf(request)) {
    if (!absl::ConsumePrefix(&protocol, kTokenProtocol)) {
      others = true;
      continue;
    }
    if (encoded) {
      return absl::UnauthenticatedError("multiple base64.bearer.authorization tokens specified");
    }
    encoded = protocol;
  }
  if (!encoded) return "";
  auto token = DecodeToken(*encoded);
  // The server has to choose a subprotocol, and must not choose the token.
  if (token.ok() && !token->empty() && !others) {
    return absl::UnauthenticatedError("missing additional subprotocol");
  }
  return token;
}

// Replaces the subprotocols by those that are not a token.
void RemoveSubprotocolToken(base::HttpRequest& request) {
  std::vector<std::string> kept;
  bool found = false;
  for (absl::string_view protocol : SubprotocolsOf(request)) {
    const bool is_token = absl::StartsWith(protocol, kTokenProtocol);
    found = found || is_token;
    if (!is_token) kept.emplace_back(protocol);
  }
  if (!found) return;
  RemoveFields(request, [](absl::string_view name) { return name == kSubprotocol; });
  if (kept.empty()) return;
  const std::string value = absl::StrJoin(kept, ",");
  request.headers[kSubprotocol] = value;
  request.fields.emplace_back(kSubprotocol, value);
}

}  // namespace

std::vector<absl::string_view> ValuesOf(const base::HttpRequest& request, absl::string_view name) {
  std::vector<absl::string_view> values;
  for (const auto& [field, value] : request.fields) {
    if (absl::EqualsIgnoreCase(field, name)) values.push_back(value);
  }
  return values;
}

std::string AuditIdOf(const base::HttpRequest& request) {
  const absl::string_view id = request.Header("audit-id");
  // A client's ID ends up in the log, so it must not be long or contain blanks.
  const bool usable =
      !id.empty() && id.size() <= kMaxAuditIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
        return absl::ascii_isgraph(static_cast<unsigned char>(c));
      });
  return usable ? std::string(id) : base::NewUuid();
}

size_t BytesOfHead(const base::HttpRequest& request) {
  size_t bytes = request.target.size();
  for (const auto& [name, value] : request.fields) bytes += name.size() + value.size();
  return bytes;
}

std::map<std::string, std::vector<std::string>> ExtraOf(const base::HttpRequest& request,
                                                        absl::string_view prefix) {
  std::map<std::string, std::vector<std::string>> extra;
  for (const auto& [field, value] : request.fields) {
    if (!absl::StartsWithIgnoreCase(field, prefix)) continue;
    const std::string key = absl::AsciiStrToLower(field.substr(prefix.size()));
    // Keys may contain characters that names of headers must not have: clients escape them.
    extra[PathUnescape(key).value_or(key)].push_back(value);
  }
  return extra;
}

void RemoveFields(base::HttpRequest& request,
                  const std::function<bool(absl::string_view name)>& which) {
  std::erase_if(request.fields,
                [&](const auto& field) { return which(absl::AsciiStrToLower(field.first)); });
  std::erase_if(request.headers, [&](const auto& field) { return which(field.first); });
}

RequestHeaderNames RequestHeaderNames::Standard() {
  return {.user = {"x-remote-user"},
          .uid = {},
          .group = {"x-remote-group"},
          .extra_prefix = {"x-remote-extra-"}};
}

std::optional<UserInfo> UserOfFields(const base::HttpRequest& request,
                                     const RequestHeaderNames& names) {
  UserInfo user{.name = FirstValue(request, names.user)};
  if (user.name.empty()) return std::nullopt;
  user.uid = FirstValue(request, names.uid);
  for (const std::string& name : names.group) {
    for (absl::string_view group : ValuesOf(request, name)) {
      if (!group.empty()) user.groups.emplace_back(group);
    }
  }
  for (const std::string& prefix : names.extra_prefix) {
    for (auto& [key, values] : ExtraOf(request, prefix)) {
      std::vector<std::string>& all = user.extra[key];
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return user;
}

absl::StatusOr<std::string> BearerTokenOf(const base::HttpRequest& request) {
  const std::vector<absl::string_view> values = ValuesOf(request, kAuthorization);
  // Which of them a server behind this one would read is not known.
  if (values.size() > 1) {
    return absl::UnauthenticatedError("the request has several Authorization headers");
  }
  if (!values.empty()) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(absl::StripAsciiWhitespace(values.front()), absl::MaxSplits(' ', 2));
    // What follows the token is ignored, as in upstream.
    if (parts.size() >= 2 && absl::EqualsIgnoreCase(parts[0], "bearer") && !parts[1].empty()) {
      return std::string(parts[1]);
    }
  }
  return SubprotocolToken(request);
}

void RemoveCredentials(base::HttpRequest& request, const RequestHeaderNames& names) {
  RemoveFields(request, [&](absl::string_view name) {
    // The usual names as well if others are configured: a server behind this one may trust them.
    return name == kAuthorization || absl::StartsWith(name, kRemotePrefix) ||
           IsOneOf(name, names.user) || IsOneOf(name, names.uid) || IsOneOf(name, names.group) ||
           StartsWithOneOf(name, names.extra_prefix);
  });
  RemoveSubprotocolToken(request);
}

}  // namespace kube::aggregation
