// busy_ is true while a callback runs, which happens without the lock; the thread with the next
// callback waits for it. End is the last callback. Close waits for the one that is running and lets
// no further one through; it must not be called from a callback, which would wait for itself. An
// exception of a callback becomes an error for the thread that delivers. A thread knows by
// callback_depth that it is inside a callback, where it must not make a blocking call.

#include "kube/http/internal/stream_delivery.h"

#include <exception>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace kube {
namespace {

thread_local int callback_depth = 0;

}  // namespace

bool StreamDelivery::InCallback() { return callback_depth > 0; }

absl::Status StreamDelivery::Deliver(const std::function<void()>& callback, bool last) {
  {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(
        +[](bool* busy) { return !*busy; }, &busy_));
    if (closed_) return absl::CancelledError("the stream is closed");
    busy_ = true;
  }
  absl::Status status;
  ++callback_depth;
  try {
    callback();
  } catch (const std::exception& e) {
    status = absl::InternalError(absl::StrCat("a callback of the stream failed: ", e.what()));
    base::LogError("a callback of a stream failed", {{"error", e.what()}});
  }
  --callback_depth;
  absl::MutexLock lock(&mu_);
  busy_ = false;
  if (last) closed_ = true;
  return status;
}

absl::Status StreamDelivery::Head(const HttpResponse& head) {
  return Deliver([&] { callbacks_.on_head(head); }, /*last=*/false);
}

absl::Status StreamDelivery::Data(absl::string_view bytes) {
  return Deliver([&] { callbacks_.on_data(bytes); }, /*last=*/false);
}

void StreamDelivery::End(absl::Status status) {
  static_cast<void>(Deliver([&] { callbacks_.on_end(std::move(status)); }, /*last=*/true));
}

void StreamDelivery::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
  mu_.Await(absl::Condition(
      +[](bool* busy) { return !*busy; }, &busy_));
}

bool StreamDelivery::closed() const {
  absl::MutexLock lock(&mu_);
  return closed_;
}

}  // namespace kube
