// Whether somebody may act as somebody else: asks for the rights of each mode of an impersonation.
#ifndef KUBE_AGGREGATION_IMPERSONATION_CHECK_H_
#define KUBE_AGGREGATION_IMPERSONATION_CHECK_H_

#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/impersonation.h"

namespace kube::aggregation {

// By which mode each requestor was permitted last: it is tried first the next time, so that those
// who have the right `impersonate` cause no further questions. Nothing depends on it but the number
// of questions, and which refusal is shown. Thread-safe.
class ImpersonationMemory {
 public:
  // Returns the verb of the mode; "" if none is known.
  std::string LastOf(const std::string& requestor) const;
  void Remember(const std::string& requestor, const std::string& verb);

 private:
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, std::string> verbs_ ABSL_GUARDED_BY(mu_);  // By digest.
};

// Calls `done` with the first mode all of whose rights are granted; with the 403 of the mode that
// was tried first if none is; or with the error of the authorizer, as soon as there is one.
// REQUIRES: `authorizer` and `memory` outlive the calls.
void CheckImpersonation(Impersonation wanted, const std::string& requestor, Authorizer& authorizer,
                        ImpersonationMemory& memory,
                        std::function<void(absl::StatusOr<ImpersonationMode>)> done);

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_IMPERSONATION_CHECK_H_
