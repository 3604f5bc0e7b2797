#include "sandbox/http/authentication.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

constexpr char kAuthenticated[] = "system:authenticated";

}  // namespace

absl::StatusOr<UserIdentity> Authentication::UserOf(const base::HttpRequest& request) const {
  absl::string_view header = request.Header("authorization");
  if (absl::StartsWithIgnoreCase(header, "bearer ")) {
    const std::string token(absl::StripAsciiWhitespace(header.substr(7)));
    absl::MutexLock lock(&mu_);
    const auto found = tokens_.find(token);
    if (found == tokens_.end()) return Unauthorized();
    return UserIdentity{found->second, {kAuthenticated}};
  }
  if (!request.peer.common_name.empty()) {
    UserIdentity user{request.peer.common_name, request.peer.organizations};
    user.groups.emplace_back(kAuthenticated);
    return user;
  }
  if (!allow_anonymous_ && !IsOpenPath(request.path)) return Unauthorized();
  return UserIdentity{"system:anonymous", {"system:unauthenticated"}};
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
