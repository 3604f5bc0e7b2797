// Determines whether a user may do what a request asks for: by asking the control plane.
#ifndef KUBE_AGGREGATION_AUTHORIZER_H_
#define KUBE_AGGREGATION_AUTHORIZER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/repeated_errors.h"
#include "kube/aggregation/review_cache.h"
#include "kube/aggregation/review_client.h"
#include "kube/aggregation/user_info.h"
#include "kube/meta/selector.h"
#include "kube/server/request_info.h"

namespace kube::aggregation {

// Who wants to do what.
struct Attributes {
  UserInfo user;
  std::string verb;
  bool is_resource = false;
  // These describe the resource; empty for a request that is for none.
  std::string group, version, resource, subresource, ns, name;
  std::string path;  // Of a request that is for no resource.
  // What a list, watch or deletecollection is narrowed to: an authorizer of the control plane may
  // allow these objects and no others.
  kube::FieldSelector fields;
  kube::LabelSelector labels;
};

// The selectors are those of the query, as upstream's AuthorizeWithSelectors: one that cannot be
// parsed is left out, which asks for more. A list or watch of one name has this name.
Attributes AttributesOf(UserInfo user, const server::RequestInfo& info,
                        const base::HttpRequest& request);

// Returns the 403 with upstream's text: `pods "web" is forbidden: User "bob" cannot get resource
// "pods" in API group "" in the namespace "default": <reason>`.
absl::Status ForbiddenError(const Attributes& attributes, absl::string_view reason);

// Returns what a client gets when its rights could not be determined: 429, or a 500 without the
// reason, which the authorizer has logged.
absl::Status AuthorizationError(const absl::Status& status);

struct Decision {
  bool allowed = false;
  std::string reason;  // Why not; "" if nobody said so.
};

class Authorizer {
 public:
  // An error means that it could not be determined; the request must not be executed.
  using Done = std::function<void(absl::StatusOr<Decision>)>;

  virtual ~Authorizer() = default;
  // Calls `done` once: at once, on this thread, if the answer is known, else on another thread.
  virtual void Authorize(const Attributes& attributes, Done done) = 0;
};

// Upstream's DelegatingAuthorizerConfig: system:masters may do everything, everybody may read some
// paths, everything else is a SubjectAccessReview. Thread-safe.
class DelegatedAuthorizer : public Authorizer {
 public:
  struct Options {
    // --authorization-always-allow-paths; one that ends with "*" is a prefix.
    std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
    // --authorization-webhook-cache-authorized-ttl and -unauthorized-ttl
    absl::Duration allowed_ttl = absl::Seconds(10);
    absl::Duration denied_ttl = absl::Seconds(10);
    size_t max_decisions = 8192;  // How many are kept, of each outcome.
  };
  // REQUIRES: `reviews` and `clock` outlive the object, and `reviews` has been stopped before it is
  // destroyed.
  DelegatedAuthorizer(Options options, ReviewClient& reviews, const base::Clock& clock);

  void Authorize(const Attributes& attributes, Done done) override;

 private:
  bool IsAlwaysAllowed(const Attributes& attributes) const;
  void Ask(const json::Value& spec, const std::string& owner, ReviewCache<Decision>::Done done);
  void Failed(const absl::Status& error, const ReviewCache<Decision>::Done& done);

  const Options options_;
  ReviewClient& reviews_;
  ReviewCache<Decision> decisions_;  // By the digest of the review's spec.
  const base::Clock& clock_;
  base::RepeatedErrors errors_;
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_AUTHORIZER_H_
