#include "sandbox/authentication.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "sandbox/api_errors.h"

namespace sandbox {

absl::StatusOr<std::string> Authentication::UserOf(const base::HttpRequest& request) const {
  absl::string_view header = request.Header("authorization");
  if (absl::StartsWithIgnoreCase(header, "bearer ")) {
    const std::string token(absl::StripAsciiWhitespace(header.substr(7)));
    absl::MutexLock lock(&mu_);
    const auto found = tokens_.find(token);
    if (found == tokens_.end()) return Unauthorized();
    return found->second;
  }
  if (!request.peer.common_name.empty()) return request.peer.common_name;
  if (!allow_anonymous_) return Unauthorized();
  return std::string("system:anonymous");
}

bool Authentication::IsOpenPath(absl::string_view path) {
  return path == "/healthz" || path == "/livez" || path == "/readyz" ||
         absl::StartsWith(path, "/healthz/") || absl::StartsWith(path, "/livez/") ||
         absl::StartsWith(path, "/readyz/");
}

void Authentication::AddToken(std::string token, std::string user) {
  absl::MutexLock lock(&mu_);
  tokens_[std::move(token)] = std::move(user);
}

void Authentication::RevokeToken(const std::string& token) {
  absl::MutexLock lock(&mu_);
  tokens_.erase(token);
}

}  // namespace sandbox
