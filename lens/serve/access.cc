#include "lens/serve/access.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lens/serve/bounds.h"

namespace lens::serve {
namespace {

// Returns "localhost" of "localhost:8090", and "[::1]" of "[::1]:8090".
absl::string_view WithoutPort(absl::string_view host) {
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon == absl::string_view::npos) return host;
  if (bracket != absl::string_view::npos && colon < bracket) return host;
  return host.substr(0, colon);
}

bool IsLocalName(absl::string_view host) {
  if (absl::EqualsIgnoreCase(host, "localhost")) return true;
  return IsLoopback(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
}

// Pages of other ports of this machine are of the same site, and of another origin. What is not a
// browser of today may name the origin alone. Elsewhere the name of the page is not known here.
bool IsFromElsewhere(Mode mode, const base::HttpRequest& request) {
  const absl::string_view site = request.Header("sec-fetch-site");
  if (site == "cross-site" || site == "same-site") return true;
  absl::string_view origin = request.Header("origin");
  if (origin.empty() || mode != Mode::kLocal) return false;
  return !absl::ConsumePrefix(&origin, "http://") ||
         !absl::EqualsIgnoreCase(origin, request.Header("host"));
}

}  // namespace

bool IsLoopback(absl::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  if (!absl::ConsumePrefix(&host, "127.")) return false;
  for (const char c : host) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) && c != '.') return false;
  }
  return !host.empty();
}

absl::Status CheckRequest(Mode mode, const base::HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    return absl::UnimplementedError("this page only reads: GET and HEAD");
  }
  if (request.target.size() > kMostTargetBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("path and query may have ", kMostTargetBytes, " bytes"));
  }
  if (mode == Mode::kLocal && !IsLocalName(WithoutPort(request.Header("host")))) {
    return absl::PermissionDeniedError(
        "this page is asked for by a name that is not local: use http://localhost or 127.0.0.1");
  }
  // A link from elsewhere leads to the page; the page itself asks the rest.
  if (absl::StartsWith(request.path, "/api") && IsFromElsewhere(mode, request)) {
    return absl::PermissionDeniedError("pages of other origins may not ask");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TokenOf(const base::HttpRequest& request) {
  absl::string_view value = request.Header("authorization");
  const absl::string_view scheme = value.substr(0, value.find(' '));
  if (!absl::EqualsIgnoreCase(scheme, "Bearer")) {
    return absl::UnauthenticatedError("a bearer token of the control plane is needed");
  }
  value = absl::StripAsciiWhitespace(value.substr(scheme.size()));
  // Two fields of the name are joined by a comma, which no token has.
  if (value.empty() || value.size() > kMostTokenBytes ||
      value.find_first_of(", \t\r\n") != absl::string_view::npos) {
    return absl::UnauthenticatedError("the bearer token cannot be one of the control plane");
  }
  return std::string(value);
}

}  // namespace lens::serve
