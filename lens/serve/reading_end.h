// Why something that is being read ends before it is complete.
#ifndef LENS_SERVE_READING_END_H_
#define LENS_SERVE_READING_END_H_

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"

namespace lens::serve {

// Ends a reading before it is complete, and knows why. Thread-safe.
class ReadingEnd {
 public:
  // Ends it; the first reason counts.
  void Because(const absl::Status& why) {
    {
      absl::MutexLock lock(&mu_);
      why_.Update(why);
    }
    source_.request_stop();
  }
  // OK as long as it goes on.
  absl::Status why() const {
    absl::MutexLock lock(&mu_);
    return why_;
  }
  base::StopToken stop() const { return source_.get_token(); }

 private:
  base::StopSource source_;
  mutable absl::Mutex mu_;
  absl::Status why_ ABSL_GUARDED_BY(mu_);
};

}  // namespace lens::serve

#endif  // LENS_SERVE_READING_END_H_
