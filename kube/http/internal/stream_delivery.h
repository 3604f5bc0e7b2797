// Calls a stream's callbacks, until the stream is closed from another thread.
#ifndef KUBE_HTTP_INTERNAL_STREAM_DELIVERY_H_
#define KUBE_HTTP_INTERNAL_STREAM_DELIVERY_H_

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/http/transport.h"

namespace kube {

// Thread-safe; callbacks run one at a time.
class StreamDelivery {
 public:
  explicit StreamDelivery(StreamCallbacks callbacks) : callbacks_(std::move(callbacks)) {}

  // The error is kCancelled when the stream is closed, kInternal when the callback threw.
  absl::Status Head(const HttpResponse& head);
  absl::Status Data(absl::string_view bytes);
  // Delivers the end; nothing is delivered afterwards.
  void End(absl::Status status);
  // Waits for a callback that another thread is running. Nothing is delivered afterwards.
  void Close();
  bool closed() const;

  // Returns whether this thread is inside a callback of any stream.
  static bool InCallback();

 private:
  absl::Status Deliver(const std::function<void()>& callback, bool last);

  const StreamCallbacks callbacks_;
  mutable absl::Mutex mu_;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_STREAM_DELIVERY_H_
