// Determines who sent a request: by client certificate, by bearer token, or nobody.
#ifndef SANDBOX_HTTP_AUTHENTICATION_H_
#define SANDBOX_HTTP_AUTHENTICATION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"

namespace sandbox {

struct UserIdentity {
  std::string name;
  std::vector<std::string> groups;
};

// Thread-safe.
class Authentication {
 public:
  Authentication(std::map<std::string, std::string> tokens, bool allow_anonymous)
      : allow_anonymous_(allow_anonymous), tokens_(std::move(tokens)) {}

  // Returns the user. 401 when the request has no valid credentials. A request without any is
  // accepted on open paths, and everywhere when anonymous requests are allowed; a wrong token is
  // refused there too.
  absl::StatusOr<UserIdentity> UserOf(const base::HttpRequest& request) const;
  // Returns whether the path is a health check, which is open to everybody.
  static bool IsOpenPath(absl::string_view path);

  void AddToken(std::string token, std::string user);
  void RevokeToken(const std::string& token);

 private:
  const bool allow_anonymous_;
  mutable absl::Mutex mu_;
  std::map<std::string, std::string> tokens_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_AUTHENTICATION_H_
