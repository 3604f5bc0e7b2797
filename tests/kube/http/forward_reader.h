// Reads the answer of a forward in a test.
#ifndef TESTS_KUBE_HTTP_FORWARD_READER_H_
#define TESTS_KUBE_HTTP_FORWARD_READER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "kube/http/forwarder.h"

namespace tests {

// Collects one answer. Waits end after a minute, and the test fails by what it finds then.
class ForwardReader : public std::enable_shared_from_this<ForwardReader> {
 public:
  // Starts a forward whose answer is read as it comes, unless `by_hand`: then only Next() asks.
  static std::shared_ptr<ForwardReader> Start(kube::Forwarder& forwarder,
                                              kube::ForwardRequest request, bool by_hand = false) {
    auto reader = std::make_shared<ForwardReader>();
    reader->by_hand_ = by_hand;
    reader->stream = forwarder.Forward(std::move(request), reader->Callbacks());
    return reader;
  }

  const kube::ForwardHead& Head() {
    head_come_.WaitForNotificationWithTimeout(absl::Minutes(1));
    absl::MutexLock lock(&mu_);
    return head_;
  }
  // Waits for the end and returns its status.
  absl::Status End() {
    if (!ended_.WaitForNotificationWithTimeout(absl::Minutes(1))) {
      return absl::InternalError("the test waited in vain");
    }
    absl::MutexLock lock(&mu_);
    return status_;
  }
  std::string Body() {
    End().IgnoreError();
    return Text();
  }
  std::string Text() {
    absl::MutexLock lock(&mu_);
    return body_;
  }
  // Waits until so many bytes have come, and takes all there are.
  std::string Await(size_t count) {
    absl::MutexLock lock(&mu_);
    const auto come = [&]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return body_.size() >= count; };
    mu_.AwaitWithTimeout(absl::Condition(&come), absl::Minutes(1));
    return std::exchange(body_, {});
  }
  // Asks for one block and waits for it.
  std::string Next() {
    stream->Read();
    return Await(1);
  }
  bool ended() const { return ended_.HasBeenNotified(); }

  kube::ForwardStreamPtr stream;

 private:
  kube::ForwardCallbacks Callbacks() {
    const auto self = shared_from_this();
    return {.on_head =
                [self](const kube::ForwardStreamPtr& stream, kube::ForwardHead head) {
                  {
                    absl::MutexLock lock(&self->mu_);
                    self->head_ = std::move(head);
                  }
                  self->head_come_.Notify();
                  if (!self->by_hand_) stream->Read();
                },
            .on_data =
                [self](const kube::ForwardStreamPtr& stream, const std::string& bytes) {
                  {
                    absl::MutexLock lock(&self->mu_);
                    self->body_ += bytes;
                  }
                  if (!self->by_hand_) stream->Read();
                },
            .on_end =
                [self](absl::Status status) {
                  {
                    absl::MutexLock lock(&self->mu_);
                    self->status_ = std::move(status);
                  }
                  self->ended_.Notify();
                }};
  }

  bool by_hand_ = false;
  absl::Mutex mu_;
  kube::ForwardHead head_ ABSL_GUARDED_BY(mu_);
  std::string body_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  absl::Notification head_come_, ended_;
};

}  // namespace tests

#endif  // TESTS_KUBE_HTTP_FORWARD_READER_H_
