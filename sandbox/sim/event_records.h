// Writes events as the controllers of a real cluster do, for `kubectl describe` and `kubectl get
// events`.
#ifndef SANDBOX_SIM_EVENT_RECORDS_H_
#define SANDBOX_SIM_EVENT_RECORDS_H_

#include <string>

#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

struct EventRecord {
  json::Value about;  // A core/v1 ObjectReference.
  std::string type;   // "Normal" or "Warning".
  std::string reason;
  std::string message;
  std::string component;  // The component that reports it.
};

// Writes the event. If an equal one about the same object exists, its count is raised, as by
// client-go's recorder. An event about an object without a namespace is written into "default". One
// that cannot be written (the namespace is being deleted) is dropped, because nothing depends on
// events.
void RecordEvent(Backend& backend, const EventRecord& record, absl::Time now);

// Returns the ObjectReference of an object that was read.
json::Value ReferenceTo(const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_SIM_EVENT_RECORDS_H_
