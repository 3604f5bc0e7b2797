// Conditions of a MultiClusterService, and the events that go with their changes.
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_CONDITION_REPORT_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_CONDITION_REPORT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
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

// Writes the condition that `result` leads to, if it differs from the one that the service has, and
// records an event for each failure whose text is new and for the success that ends a failure. So
// the condition is the memory of what was reported, and a restart reports nothing again. `changed`
// is whether the pass has changed anything: then a success is a routine event. Nothing happens when
// `result` is no outcome. Returns the error of the write.
absl::Status ReportCondition(kube::Manager& manager, kube::EventRecorder& recorder,
                             const kube::ObjectPtr& service, const ConditionTexts& texts,
                             const absl::Status& result, bool changed, const base::StopToken& stop);

// Removes the conditions of these types that are there. Returns the service as it is then.
absl::StatusOr<kube::ObjectPtr> WithdrawConditions(kube::Manager& manager,
                                                   const kube::ObjectPtr& service,
                                                   absl::Span<const absl::string_view> types,
                                                   const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_CONDITION_REPORT_H_
