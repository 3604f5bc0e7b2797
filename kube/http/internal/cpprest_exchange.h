// One HTTP exchange over cpprestsdk: the common part of unary calls and streams.
//
// The library runs everything on its pool (one thread); nothing here blocks there. A request is
// cancelled by a function posted to the pool, because the library lets a cancellation on another
// thread race with its own change of connections.
#ifndef KUBE_HTTP_INTERNAL_CPPREST_EXCHANGE_H_
#define KUBE_HTTP_INTERNAL_CPPREST_EXCHANGE_H_

#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

#include <exception>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/http/internal/stream_delivery.h"
#include "kube/http/transport.h"

namespace kube {

// Runs `function` on the library's pool.
void PostToPool(std::function<void()> function);

// Waits until no exchange is left and the pool has run everything that was posted; returns false at
// the deadline. For the end of the process.
bool AwaitNoExchange(base::SteadyTime deadline);

// Returns the error for an exception of the library. `verdict` is why the last server certificate
// was refused ("" if none was).
absl::Status ErrorOfException(const std::exception_ptr& exception, absl::string_view verdict);

// Keeps itself alive while the library works on it. The On... functions of subclasses must not
// block. OnEnd is called once and last, on the pool or inside Start(). OnHead and OnData are called
// on the pool, in order, if Start() is called there; otherwise the caller's thread may call OnHead
// while the pool already has data.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange();
  virtual ~Exchange();
  // `verdict` is called when the exchange fails. Call Start once.
  void Start(web::http::client::http_client& client, web::http::http_request request,
             std::function<std::string()> verdict);
  void Cancel() const;

  virtual void OnHead(HttpResponse head) = 0;
  // An error ends the exchange.
  virtual absl::Status OnData(absl::string_view bytes) = 0;
  virtual void OnEnd(absl::Status status) = 0;

 private:
  void HeadArrived(const pplx::task<web::http::http_response>& head);
  void Fail(const std::exception_ptr& exception);

  pplx::cancellation_token_source cancel_;
  std::function<std::string()> verdict_;
};

// Collects a whole answer for a caller that waits. Thread-safe.
class UnaryExchange : public Exchange {
 public:
  // A body with more bytes is refused.
  explicit UnaryExchange(size_t max_body_bytes) : max_body_bytes_(max_body_bytes) {}
  // After kDeadlineExceeded and kCancelled the request is cancelled in the background.
  absl::StatusOr<HttpResponse> Await(base::SteadyTime deadline, const base::StopToken& stop);

  void OnHead(HttpResponse head) override;
  absl::Status OnData(absl::string_view bytes) override;
  void OnEnd(absl::Status status) override;

 private:
  const size_t max_body_bytes_;
  absl::Mutex mu_;
  HttpResponse response_ ABSL_GUARDED_BY(mu_);
  absl::Status too_large_ ABSL_GUARDED_BY(mu_);
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

// Passes a body to callbacks as it arrives, and ends after a long silence. Thread-safe.
class CpprestStream : public Exchange {
 public:
  CpprestStream(StreamCallbacks callbacks, absl::Duration longest_silence);
  // Ends the exchange if it has been silent for too long, else does so again when it may have been.
  // Call it once, on the pool.
  void StartTimer();
  // Waits for a running callback; afterwards none is called.
  void Close();

  void OnHead(HttpResponse head) override;
  absl::Status OnData(absl::string_view bytes) override;
  void OnEnd(absl::Status status) override;

 private:
  void NoteData();

  StreamDelivery delivery_;
  const absl::Duration longest_silence_;
  boost::asio::steady_timer timer_;  // Used on the pool only.
  absl::Mutex mu_;
  base::SteadyTime last_data_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_CPPREST_EXCHANGE_H_
