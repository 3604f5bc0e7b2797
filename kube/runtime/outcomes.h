// What a loop remembers, from one pass to the next, of the outcomes of what it tries: whether it
// failed the last time, and how many conflicts it has met in a row.
//
// A success is reported where it ends a failure, not at every pass. A write that meets a conflict
// (kAborted) is tried again silently, since the next pass has read what came in between. But a 409
// may have other causes: an admission webhook may deny with it, and a cache may stay behind. After
// a few in a row a conflict counts as any other failure, and is reported as one. Its message is the
// server's, without a count: it goes into conditions and events, and a text that changes with each
// try would cause a write each time.
//
// Every outcome belongs to a request, so that all of them are forgotten together when what the
// request names is gone. The controller does so after a pass that ended with Action::Gone.
//
// This is memory of one process, and nothing that a loop writes depends on it. When it is lost, the
// success that ends an earlier failure is not reported as an event (conditions still show it), and
// conflicts are counted from the first again.
#ifndef KUBE_RUNTIME_OUTCOMES_H_
#define KUBE_RUNTIME_OUTCOMES_H_

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/request.h"

namespace kube {

// Holds only what failed the last time. Outcomes are told apart by the request, whose reason does
// not count, and by the part of it that is tried: "" where a pass tries one thing. Thread-safe.
class Outcomes {
 public:
  // This many conflicts in a row are silent. With the back-off of queues they take a sixth of a
  // second, in which the changes of other writers come and go.
  static constexpr int kSilentConflicts = 5;

  // Takes the `result` of trying a part of a request and returns it; only a conflict after
  // kSilentConflicts conflicts in a row is returned as kFailedPrecondition, with the same message.
  // Give it each result once: what it has returned counts as another outcome.
  absl::Status Judge(const Request& of, absl::string_view part, const absl::Status& result);
  // Records whether a part of a request succeeded; returns true if it has succeeded now and failed
  // the last time.
  bool Recovered(const Request& of, absl::string_view part, bool ok);

  // Forgets a part of a request, or all its parts.
  void Forget(const Request& of, absl::string_view part);
  void Forget(const Request& of);
  // Forgets everything in a member cluster, or about objects of a kind.
  void ForgetCluster(absl::string_view cluster);
  void ForgetKind(const Gvk& gvk);

 private:
  struct State {
    bool has_failed = false;
    int conflicts = 0;  // In a row.
  };
  using Name = std::pair<Request, std::string>;
  void EraseIfIdle(absl::btree_map<Name, State>::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  absl::btree_map<Name, State> states_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_RUNTIME_OUTCOMES_H_
