// Failures to collect a slice that repeating cannot end: which state of slice and Work has failed.
#ifndef CONTROLLERS_SLICE_COLLECTION_LASTING_FAILURES_H_
#define CONTROLLERS_SLICE_COLLECTION_LASTING_FAILURES_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// What failed waits before it is tried again, but only what failed: another version of the slice,
// or of the Work that has its place, is tried at once. All are named by the key of that Work.
// Thread-safe. Losing this memory does no harm: the same is then tried sooner.
class LastingFailures {
 public:
  // What a try was made of: the slice, and the Work of its name, nullptr if there was none.
  struct State {
    const kube::Object& slice;
    const kube::Object* work;

    std::string Versions() const {
      return absl::StrCat(slice.uid(), "/", slice.resource_version(), " ",
                          work == nullptr ? "" : work->resource_version());
    }
  };

  // REQUIRES: `clock` outlives this object.
  explicit LastingFailures(const base::Clock& clock) : clock_(clock) {}

  // Returns how long the same try still has to wait; zero when another state has failed, or none.
  absl::Duration PauseFor(const kube::ObjectKey& work, const State& state) const {
    absl::MutexLock lock(&mu_);
    const auto found = failures_.find(work);
    if (found == failures_.end() || found->second.versions != state.Versions()) {
      return absl::ZeroDuration();
    }
    return std::max(found->second.pause_ends - clock_.SteadyNow(), absl::ZeroDuration());
  }
  // Records that the try of a request has failed, and waits so long before it is repeated.
  void Note(const kube::ObjectKey& work, const kube::Request& request, const State& state,
            absl::Duration pause) {
    absl::MutexLock lock(&mu_);
    failures_[work] = {request, state.Versions(), clock_.SteadyNow() + pause};
  }
  // Returns the request that waits for a change of the Work, whatever that carries.
  std::optional<kube::Request> WaitingFor(const kube::ObjectKey& work) const {
    absl::MutexLock lock(&mu_);
    const auto found = failures_.find(work);
    if (found == failures_.end()) return std::nullopt;
    return found->second.request;
  }
  void Forget(const kube::ObjectKey& work) {
    absl::MutexLock lock(&mu_);
    failures_.erase(work);
  }
  // Forgets all Works of an execution namespace.
  void ForgetIn(absl::string_view ns) {
    absl::MutexLock lock(&mu_);
    std::erase_if(failures_, [&](const auto& entry) { return entry.first.ns == ns; });
  }

 private:
  struct Failure {
    kube::Request request;
    std::string versions;
    base::SteadyTime pause_ends;
  };

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  std::map<kube::ObjectKey, Failure> failures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_LASTING_FAILURES_H_
