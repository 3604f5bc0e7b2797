// Writes core/v1 Events in the background with client-go's aggregation: an equal event raises the
// count of the first one, many similar events become one, a noisy source is limited. Recording
// never blocks or fails.
#ifndef KUBE_RUNTIME_EVENTS_H_
#define KUBE_RUNTIME_EVENTS_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace kube {

class WorkerPool;

// The object that an event is about.
struct InvolvedObject {
  std::string api_version, kind, ns, name, uid, resource_version;
  static InvolvedObject Of(const Object& object);
};

enum class EventType { kNormal, kWarning };

// Thread-safe.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `source` is the component ("binding-controller"). An event equal to the last one of the same
  // source, object and reason is dropped for ten minutes while the object's resourceVersion stays
  // the same, because it reports nothing new.
  virtual void Record(absl::string_view source, const InvolvedObject& about, EventType type,
                      absl::string_view reason, absl::string_view message) = 0;
  // Records a warning about what stays as it is until somebody edits the object. Whoever finds that
  // out may record it again, also after a restart: while the server has the event of the same
  // source, object (by uid), reason and message, no other is written, and none is counted.
  virtual void RecordStanding(absl::string_view source, const InvolvedObject& about,
                              absl::string_view reason, absl::string_view message) {
    Record(source, about, EventType::kWarning, reason, message);
  }
  // Returns whether successes that objects show anyway are events, too (EventRecorder::Routine).
  virtual bool WantsRoutine() const { return false; }
};

struct EventOptions {
  bool routine = false;  // The result of WantsRoutine.
  // Its threads write, one at a time; nullptr: one of its own. It has the same clock.
  std::shared_ptr<WorkerPool> pool = nullptr;
};

// Returns a sink that writes through `client`. At most 1000 events
// wait, more are dropped; Normal ones are dropped when 750 wait. Events still queued when it is
// destroyed are flushed for at most 2 s. REQUIRES: `client` and `clock` outlive the sink.
std::unique_ptr<EventSink> NewEventSink(Client& client, const base::Clock& clock,
                                        const EventOptions& options = {});
// Returns a sink that drops everything.
std::unique_ptr<EventSink> NewNullEventSink();

}  // namespace kube

#endif  // KUBE_RUNTIME_EVENTS_H_
