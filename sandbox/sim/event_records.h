// Events as the controllers of a real cluster write them, for `kubectl describe` and `kubectl get
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
  std::string component;  // Who reports it.
};

// Writes the event. One that says the same of the same object as an earlier one counts that one up,
// as client-go's recorder does. An event of an object without a namespace lies in "default". One
// that cannot be written (the namespace is being deleted) is dropped: nothing depends on events.
void RecordEvent(Backend& backend, const EventRecord& record, absl::Time now);

// The ObjectReference of an object that was read.
json::Value ReferenceTo(const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_SIM_EVENT_RECORDS_H_
