// Answers reviews: kinds that are not stored. Everything is allowed here.
#ifndef SANDBOX_HTTP_ACCESS_REVIEWS_H_
#define SANDBOX_HTTP_ACCESS_REVIEWS_H_

#include "absl/status/statusor.h"
#include "sandbox/http/resource_handler.h"

namespace sandbox {

// Answers SelfSubjectAccessReview (kubectl auth can-i), SelfSubjectReview (whoami) and similar
// kinds with the status filled in.
absl::StatusOr<base::HttpResponse> AnswerReview(const ResourceCall& call);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_ACCESS_REVIEWS_H_
