// Conditions of a MultiClusterService, and the events that go with their changes.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_CONDITION_REPORT_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_CONDITION_REPORT_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/enqueue.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"

namespace controllers {

// One of the conditions, and what is said about it.
struct ConditionTexts {
  const char* type;
  const char* success_reason;  // Of the condition.
  const char* failure_reason;
  const char* success_event;  // The reason of the event.
  const char* failure_event;
  const char* success_message;  // Of both; the message of a failure is that of the error.
};

// What a loop has last determined about each service. Whoever goes by the cache alone may leave a
// wrong condition for good: the answer to a write is lost, the next pass finds nothing to write
// because the cache still shows what was there before, and then the watch shows what was written.
// Thread-safe. Losing this memory costs a pass.
class DeterminedConditions {
 public:
  void Note(const kube::ObjectKey& service, const json::Value& condition);
  // Returns whether the service has another condition than before, and not the determined one.
  bool IsOther(const kube::Object& before, const kube::Object& after, const char* type) const;
  void Forget(const kube::ObjectKey& service);

 private:
  static std::string TextOf(const json::Value* condition);

  mutable absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, std::string> texts_ ABSL_GUARDED_BY(mu_);
};

// Brings the requests of `map` a moment after a service has got a condition of the type that is not
// the determined one.
kube::Enqueue OnOtherCondition(const std::shared_ptr<DeterminedConditions>& determined,
                               const char* type, kube::MapFn map = {});

// What ReportCondition writes with.
struct ConditionWriter {
  kube::Manager& manager;
  kube::EventRecorder& recorder;
  DeterminedConditions& determined;
};

// Writes the condition that `result` leads to, if it differs from the one that the service has, and
// records an event for each failure whose text is new and for the success that ends a failure. So
// the condition is the memory of what was reported, and a restart reports nothing again. `changed`
// is whether the pass has changed anything: then a success is a routine event. Nothing happens when
// `result` is no outcome. Returns the error of the write.
absl::Status ReportCondition(const ConditionWriter& writer, const kube::ObjectPtr& service,
                             const ConditionTexts& texts, const absl::Status& result, bool changed,
                             const base::StopToken& stop);

// Removes the conditions of these types that are there. Returns the service as it is then.
absl::StatusOr<kube::ObjectPtr> WithdrawConditions(kube::Manager& manager,
                                                   const kube::ObjectPtr& service,
                                                   absl::Span<const absl::string_view> types,
                                                   const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_CONDITION_REPORT_H_
