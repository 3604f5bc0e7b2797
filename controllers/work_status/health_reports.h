// What users are told as events about the health of members' objects.
//
// Nothing but `health` is stored of it: the API has no place for a message. So the message goes
// into the event by which a Work says that its object's health has changed, and, when an object has
// been unhealthy for kLongUnhealthy, into one Warning on the Work and one on its binding, whether
// its rule says why or not. A message that changes while the health stays causes no write.
#ifndef CONTROLLERS_WORK_STATUS_HEALTH_REPORTS_H_
#define CONTROLLERS_WORK_STATUS_HEALTH_REPORTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace controllers {

// Rollouts that succeed are over by then.
inline constexpr absl::Duration kLongUnhealthy = absl::Minutes(5);
// A member that fails makes all its objects unhealthy at the same time, and the server and the
// queue of events have other things to do as well: so many objects are reported at once, and the
// next ones after this time.
inline constexpr size_t kMostReportedAtOnce = 100;
inline constexpr absl::Duration kBetweenReports = absl::Seconds(10);

// Thread-safe.
class HealthReports {
 public:
  // REQUIRES: all of them outlive this object.
  HealthReports(kube::Manager& manager, const interpreter::Interpreter& interpreter,
                kube::EventRecorder& recorder)
      : manager_(manager), interpreter_(interpreter), recorder_(recorder) {}

  // From now on `look` is put into `queue` when ReportLong has something to do. Without a queue the
  // caller has to know. REQUIRES: the queue outlives this object.
  void LookWith(kube::WorkQueue& queue, kube::Request look);

  struct Subject {
    std::string cluster;
    const kube::Object& object;  // The object in the member.
    const kube::Object& work;
    std::string known;  // The health that the Work shows; "" when it shows none.
  };
  // Returns api::kHealthy or kUnhealthy, and reports it if it is not known yet. An error is
  // reported, too.
  absl::StatusOr<std::string> Interpret(const Subject& subject);

  // Reports the objects that have been unhealthy for long; the Action asks for another look at the
  // others.
  kube::Action ReportLong();

  // Call them when an object, or its cluster, is gone.
  void Forget(const std::string& cluster, const kube::Gvk& gvk, const kube::ObjectKey& key);
  void ForgetCluster(absl::string_view cluster);

 private:
  struct Unhealthy {
    kube::ObjectKey work;
    std::string message;  // The one of the last pass.
    base::SteadyTime since;
    bool is_reported = false;
  };
  using Entry = std::pair<const kube::Request, Unhealthy>;
  struct Due {
    std::vector<std::pair<kube::Request, Unhealthy>> objects;
    std::optional<absl::Duration> next;  // The wait for further ones; none when there are none.
  };

  // Each keeps the account of unhealthy objects. Added returns whether the object was not in it.
  bool Added(const Subject& subject, std::string message);
  void Removed(const Subject& subject);
  // Those that it returns count as reported from now on.
  Due TakeDue();
  void ReportOne(const kube::Request& object, const Unhealthy& unhealthy);

  kube::Manager& manager_;
  const interpreter::Interpreter& interpreter_;
  kube::EventRecorder& recorder_;
  kube::WorkQueue* queue_ = nullptr;  // Set before the loop runs.
  kube::Request look_;
  absl::Mutex mu_;
  absl::flat_hash_map<kube::Request, Unhealthy> unhealthy_ ABSL_GUARDED_BY(mu_);
  bool look_is_queued_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_HEALTH_REPORTS_H_
