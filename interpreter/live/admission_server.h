// Serves admission of the interpreter's configurations to the control plane, over HTTPS: POST
// /validate with an AdmissionReview (interpreter/check/admission_review.h).
//
// A request that cannot be read is answered with an HTTP error, so that the failurePolicy of the
// ValidatingWebhookConfiguration determines what happens. Clients are not authenticated: an answer
// contains nothing but what follows from the request, and names of customizations in conflict.
#ifndef INTERPRETER_LIVE_ADMISSION_SERVER_H_
#define INTERPRETER_LIVE_ADMISSION_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/metrics.h"
#include "interpreter/customized/customization_set.h"
#include "kube/meta/object.h"

namespace interpreter::live {

struct AdmissionOptions {
  std::string address;                        // host:port; port 0 picks a free one.
  std::string certificate_file, key_file;     // PEM, read again when they change.
  absl::Duration reload = absl::Seconds(10);  // How often the files are read.
  customized::MergeOptions merge;             // As the interpreter has it.
};

class AdmissionServer {
 public:
  // Returns the customizations that exist, as far as they are known. Is called on the server's
  // threads and must not block.
  using Lister = std::function<std::vector<kube::ObjectPtr>()>;

  // Errors name the file that cannot be used, or the address that cannot be bound. `registry`
  // counts reviews and may be null. REQUIRES: it outlives the server, and so does what `lister`
  // refers to.
  static absl::StatusOr<std::unique_ptr<AdmissionServer>> Start(const AdmissionOptions& options,
                                                                Lister lister,
                                                                metrics::Registry* registry);

  int port() const { return server_->port(); }

 private:
  AdmissionServer(Lister lister, const customized::MergeOptions& merge, metrics::Registry* registry)
      : lister_(std::move(lister)), merge_(merge), registry_(registry) {}

  base::HttpResponse Answer(const base::HttpRequest& request) const;
  // Counts a review with this result: "allowed", "refused" or "invalid".
  void Count(const char* result) const;

  const Lister lister_;
  const customized::MergeOptions merge_;
  metrics::Registry* const registry_;
  std::unique_ptr<base::HttpServer> server_;  // Declared last: its threads use what is above.
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_ADMISSION_SERVER_H_
