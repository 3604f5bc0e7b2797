// An event sink that records events.
#ifndef TESTS_SUPPORT_RECORDING_EVENTS_H_
#define TESTS_SUPPORT_RECORDING_EVENTS_H_

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/events.h"

namespace tests {

// Records events as "Normal SyncSucceed message".
class RecordingEvents : public kube::EventSink {
 public:
  void Record(absl::string_view, const kube::InvolvedObject& about, kube::EventType type,
              absl::string_view reason, absl::string_view message) override {
    absl::MutexLock lock(&mu_);
    events_.push_back(absl::StrCat(type == kube::EventType::kNormal ? "Normal " : "Warning ",
                                   reason, " ", about.kind, ": ", message));
  }
  // Makes routine successes events, as --success-events=upstream does.
  void WantRoutine() { routine_ = true; }
  bool WantsRoutine() const override { return routine_; }
  std::vector<std::string> All() const {
    absl::MutexLock lock(&mu_);
    return events_;
  }

 private:
  std::atomic<bool> routine_ = false;
  mutable absl::Mutex mu_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tests

#endif  // TESTS_SUPPORT_RECORDING_EVENTS_H_
