// Why the store may not be what the server has. There are three errors, because they are found
// out in different ways and one may hide the other:
//
//   last_error_  of the list, or of the watch before the server has accepted the next one. It stays
//                until there is an event, so that a watch that breaks again and again is logged
//                once; last_error() does not return it while a watch is open.
//   ask_error_   of a request beside the watch (CatchUp, AskState). Such requests find out what an
//                open watch does not: that the server has gone silent, or that it refuses the
//                credentials by now. It stays until a later request, or a watch that begins later,
//                is accepted; the request is repeated with a back-off, so that nobody has to ask.
//   left_out_    what the store lacks because there is no room (reflector_memory.cc), whatever the
//                watch does. It stays until a list has left nothing out.

#include <utility>

#include "base/log.h"
#include "kube/cache/internal/reflector.h"

namespace kube::internal {

absl::Status Reflector::last_error() const {
  absl::MutexLock lock(&mu_);
  if (!ask_error_.ok()) return ask_error_;
  return watch_is_open_ || last_error_.ok() ? left_out_ : last_error_;
}

void Reflector::OnOpen() {
  absl::MutexLock lock(&mu_);
  watch_is_open_ = !watch_is_over_;
  if (ask_failed_since_start_) return;  // The server may have accepted the watch before that.
  ask_error_ = absl::OkStatus();
  ask_backoff_.Reset();
}

void Reflector::NoteAsked(const absl::Status& status) {
  absl::Duration delay;
  {
    absl::MutexLock lock(&mu_);
    if (stopped()) return;
    ask_error_ = status;
    ask_failed_since_start_ = !status.ok();
    if (status.ok()) ask_backoff_.Reset();
    if (status.ok() || std::exchange(ask_is_due_, true)) return;
    delay = ask_backoff_.Next();
  }
  RunAfter(delay, Step::kAsk);
}

void Reflector::AskAgain() {
  {
    absl::MutexLock lock(&mu_);
    ask_is_due_ = false;
    if (ask_error_.ok()) return;
  }
  AskState({}, [](const absl::StatusOr<ServerState>&) {});
}

void Reflector::Failed(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(last_error_, status) == status) return;
  }
  env_.failures.Failed(Self(), status, env_.clock.SteadyNow());
  if (stopped()) env_.failures.Forget(Self());  // Stop may have called it just before.
}

void Reflector::Succeeded() {
  absl::Status left_out;
  {
    absl::MutexLock lock(&mu_);
    if (last_error_.ok()) return;
    last_error_ = absl::OkStatus();
    left_out = left_out_;
  }
  if (left_out.ok()) {
    env_.failures.Succeeded(Self());
  } else {
    env_.failures.Failed(Self(), left_out, env_.clock.SteadyNow());
  }
  LogFailures();
}

void Reflector::LogFailures() {
  for (const FailureLog::Report& report : env_.failures.TakeDue(env_.clock.SteadyNow())) {
    if (report.error.ok()) {
      base::LogInfo("caches are up to date again",
                    {{"count", report.count}, {"what", report.what}});
    } else {
      base::LogWarning("caches are not up to date, trying again",
                       {{"count", report.count}, {"what", report.what}, {"error", report.error}});
    }
  }
}

}  // namespace kube::internal
