// The documents that clients read first, of what a server serves at present: discovery and OpenAPI.
#ifndef SANDBOX_HTTP_DOCUMENTS_H_
#define SANDBOX_HTTP_DOCUMENTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Answers GET of /api, /apis, /openapi/v2, /openapi/v3 and what is below them, but for resources;
// nullopt for other paths, and for groups and versions that are not served. Version 2 of OpenAPI
// has no definitions, but comes as gnostic's protobuf message too, which old clients ask for.
std::optional<base::HttpResponse> DocumentAnswer(const base::HttpRequest& request,
                                                 const std::vector<ResourceInfoPtr>& served);

// Remembers answers as long as the same kinds are served: each client asks for the same documents
// at its start, and making one takes milliseconds. Thread-safe.
class DocumentAnswers {
 public:
  // As DocumentAnswer.
  std::optional<base::HttpResponse> Find(const base::HttpRequest& request,
                                         std::vector<ResourceInfoPtr> served);

 private:
  static constexpr size_t kMostBytes = size_t{16} << 20;

  void Clear() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  std::vector<ResourceInfoPtr> served_ ABSL_GUARDED_BY(mu_);
  // By the target and the headers, which are all that answers depend on beside what is served.
  std::map<std::string, base::HttpResponse> answers_ ABSL_GUARDED_BY(mu_);
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;  // Of keys and answers.
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_DOCUMENTS_H_
