// Rights are asked for one after the other, so that a user who may not impersonate at all causes
// one question for each mode and not a hundred. The first refusal ends a mode, and the next one is
// tried. A question that cannot be answered ends the check: what is not known must not be skipped.

#include "kube/aggregation/impersonation_check.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/digest.h"

namespace kube::aggregation {
namespace {

// Each requestor takes some hundred bytes.
constexpr size_t kMaxRemembered = 10'000;

// What is left to check.
struct Check : std::enable_shared_from_this<Check> {
  std::vector<ImpersonationMode> modes;
  std::string requestor;
  Authorizer& authorizer;
  ImpersonationMemory& memory;
  std::function<void(absl::StatusOr<ImpersonationMode>)> done;
  size_t mode = 0, next = 0;
  absl::Status refusal;  // The first one.

  Check(Impersonation wanted, std::string by, Authorizer& asked, ImpersonationMemory& kept,
        std::function<void(absl::StatusOr<ImpersonationMode>)> then)
      : modes(std::move(wanted.modes)),
        requestor(std::move(by)),
        authorizer(asked),
        memory(kept),
        done(std::move(then)) {}

  void Continue() {
    ImpersonationMode& tried = modes[mode];
    if (next == tried.rights.size()) {
      memory.Remember(requestor, tried.verb);
      return done(std::move(tried));
    }
    const ImpersonationRight& right = tried.rights[next++];
    if (!right.refusal.empty()) return Refused(right, right.refusal);
    authorizer.Authorize(
        right.what, [self = shared_from_this(), &right](const absl::StatusOr<Decision>& decision) {
          if (!decision.ok()) return self->done(decision.status());
          if (!decision->allowed && right.covers == 0)
            return self->Refused(right, decision->reason);
          if (decision->allowed) self->next += right.covers;
          self->Continue();
        });
  }

  void Refused(const ImpersonationRight& right, const std::string& reason) {
    refusal.Update(ForbiddenError(right.what, reason));  // Keeps the first one.
    next = 0;
    if (++mode == modes.size()) return done(refusal);
    Continue();
  }
};

}  // namespace

std::string ImpersonationMemory::LastOf(const std::string& requestor) const {
  absl::MutexLock lock(&mu_);
  const auto found = verbs_.find(base::Sha256(requestor));
  return found == verbs_.end() ? "" : found->second;
}

void ImpersonationMemory::Remember(const std::string& requestor, const std::string& verb) {
  absl::MutexLock lock(&mu_);
  // Forgetting all costs questions, and happens rarely: requestors are few who impersonate.
  if (verbs_.size() >= kMaxRemembered) verbs_.clear();
  verbs_[base::Sha256(requestor)] = verb;
}

void CheckImpersonation(Impersonation wanted, const std::string& requestor, Authorizer& authorizer,
                        ImpersonationMemory& memory,
                        std::function<void(absl::StatusOr<ImpersonationMode>)> done) {
  const std::string last = memory.LastOf(requestor);
  std::stable_partition(wanted.modes.begin(), wanted.modes.end(),
                        [&last](const ImpersonationMode& mode) { return mode.verb == last; });
  std::make_shared<Check>(std::move(wanted), requestor, authorizer, memory, std::move(done))
      ->Continue();
}

}  // namespace kube::aggregation
