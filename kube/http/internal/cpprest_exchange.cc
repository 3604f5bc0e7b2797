// Start gives the library the request and a stream into which it writes the body. From then on the
// library calls OnData for each block, and completes two tasks on its pool: that of the head, which
// leads to OnHead, and that of the body, which leads to OnEnd. The first exception of any of them
// leads to OnEnd as well (Fail). Each continuation holds a reference, so an exchange lives until
// the library has let go of it, and live_exchanges counts them for the end of the process.
//
// A unary exchange collects the answer under its mutex while the caller waits; a caller that gives
// up posts a cancellation and leaves. A stream has a timer on the pool. Data only notes when it
// came; when the timer is due, it ends the stream if that is long enough ago, and is set again
// otherwise.

#include "kube/http/internal/cpprest_exchange.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "base/stop_flag.h"
#include "kube/http/internal/cpprest_sink.h"

namespace kube {
namespace {

// At most this is reserved because a server has announced it.
constexpr size_t kMaxReserve = 1 << 20;

ABSL_CONST_INIT absl::Mutex live_mu(absl::kConstInit);
ABSL_CONST_INIT int live_exchanges ABSL_GUARDED_BY(live_mu) = 0;

HttpResponse HeadOf(const web::http::http_response& response) {
  HttpResponse head;
  head.code = response.status_code();
  for (const auto& [name, value] : response.headers()) {
    head.headers.emplace(absl::AsciiStrToLower(name), value);
  }
  return head;
}

}  // namespace

void PostToPool(std::function<void()> function) {
  boost::asio::post(crossplat::threadpool::shared_instance().service(), std::move(function));
}

bool AwaitNoExchange(base::SteadyTime deadline) {
  {
    absl::MutexLock lock(&live_mu);
    const auto none = []() ABSL_EXCLUSIVE_LOCKS_REQUIRED(live_mu) { return live_exchanges == 0; };
    if (!base::RealClock().AwaitUntil(live_mu, absl::Condition(&none), deadline)) return false;
  }
  // This runs after the library has finished the last exchange. OpenSSL would not free its data for
  // the thread if the thread ended after OpenSSL's own clean-up.
  struct Flushed {
    absl::Mutex mu;
    bool done = false;
  };
  const auto flushed = std::make_shared<Flushed>();
  PostToPool([flushed] {
    OPENSSL_thread_stop();
    absl::MutexLock lock(&flushed->mu);
    flushed->done = true;
  });
  absl::MutexLock lock(&flushed->mu);
  return base::RealClock().AwaitUntil(flushed->mu, absl::Condition(&flushed->done), deadline);
}

Exchange::Exchange() {
  absl::MutexLock lock(&live_mu);
  ++live_exchanges;
}

Exchange::~Exchange() {
  absl::MutexLock lock(&live_mu);
  --live_exchanges;
}

void Exchange::Start(web::http::client::http_client& client, web::http::http_request request,
                     std::function<std::string()> verdict) {
  verdict_ = std::move(verdict);
  const auto self = shared_from_this();
  try {
    request.set_response_stream(
        MakeSinkStream([self](absl::string_view bytes) { return self->OnData(bytes); }));
    client.request(std::move(request), cancel_.get_token())
        .then([self](pplx::task<web::http::http_response> head) { self->HeadArrived(head); },
              RunInline());
  } catch (...) {
    Fail(std::current_exception());
  }
}

void Exchange::HeadArrived(const pplx::task<web::http::http_response>& head) {
  const auto self = shared_from_this();
  try {
    const web::http::http_response response = head.get();
    OnHead(HeadOf(response));
    // Not inline: when a posted continuation runs, the connection is back in its pool, so the
    // caller's next request can use it.
    pplx::create_task(response._get_impl()->_get_data_available())
        .then([self](pplx::task<utility::size64_t> body) {
          try {
            body.get();
            self->OnEnd(absl::OkStatus());
          } catch (...) {
            self->Fail(std::current_exception());
          }
        });
  } catch (...) {
    Fail(std::current_exception());
  }
}

void Exchange::Fail(const std::exception_ptr& exception) {
  OnEnd(ErrorOfException(exception, verdict_()));
}

void Exchange::Cancel() const {
  PostToPool([source = cancel_] { source.cancel(); });
}

absl::StatusOr<HttpResponse> UnaryExchange::Await(base::SteadyTime deadline,
                                                  const base::StopToken& stop) {
  const base::StopFlag stopped(mu_, stop);
  {
    absl::MutexLock lock(&mu_);
    auto over = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return done_ || stopped.IsSet(); };
    base::RealClock().AwaitUntil(mu_, absl::Condition(&over), deadline);
    if (done_ && !status_.ok()) return status_;
    if (done_) return std::move(response_);
  }
  Cancel();
  if (stopped.IsSet()) return absl::CancelledError("stopped while waiting for an answer");
  return absl::DeadlineExceededError("no answer in time");
}

void UnaryExchange::OnHead(HttpResponse head) {
  const auto length = head.headers.find("content-length");
  uint64_t bytes = 0;
  const bool known = length != head.headers.end() && absl::SimpleAtoi(length->second, &bytes);
  absl::MutexLock lock(&mu_);
  // The request starts on the caller's thread, so the pool may deliver the first bytes of the body
  // while the head is still on its way to this point.
  head.body = std::move(response_.body);
  if (known) head.body.reserve(std::min<uint64_t>(bytes, kMaxReserve));
  response_ = std::move(head);
}

absl::Status UnaryExchange::OnData(absl::string_view bytes) {
  absl::MutexLock lock(&mu_);
  if (bytes.size() > max_body_bytes_ - response_.body.size()) {
    too_large_ = absl::ResourceExhaustedError(
        absl::StrCat("the answer is larger than ", max_body_bytes_, " bytes"));
    return too_large_;
  }
  absl::StrAppend(&response_.body, bytes);
  return absl::OkStatus();
}

void UnaryExchange::OnEnd(absl::Status status) {
  absl::MutexLock lock(&mu_);
  status_ = too_large_.ok() ? std::move(status) : too_large_;
  done_ = true;
}

CpprestStream::CpprestStream(StreamCallbacks callbacks, absl::Duration longest_silence)
    : delivery_(std::move(callbacks)),
      longest_silence_(longest_silence),
      timer_(crossplat::threadpool::shared_instance().service()),
      last_data_(base::RealClock().SteadyNow()) {}

void CpprestStream::NoteData() {
  absl::MutexLock lock(&mu_);
  last_data_ = base::RealClock().SteadyNow();
}

void CpprestStream::OnHead(HttpResponse head) {
  NoteData();
  static_cast<void>(delivery_.Head(head));
}

absl::Status CpprestStream::OnData(absl::string_view bytes) {
  NoteData();
  return delivery_.Data(bytes);
}

void CpprestStream::OnEnd(absl::Status status) {
  timer_.cancel();
  delivery_.End(std::move(status));
}

void CpprestStream::StartTimer() {
  if (delivery_.closed()) return;
  absl::Duration left;
  {
    absl::MutexLock lock(&mu_);
    left = last_data_ + longest_silence_ - base::RealClock().SteadyNow();
  }
  if (left <= absl::ZeroDuration()) {
    Cancel();
    OnEnd(absl::UnavailableError(
        absl::StrCat("no data for ", absl::FormatDuration(longest_silence_))));
    return;
  }
  // Data does not change the timer; when it expires, it is set for the rest of the allowed silence.
  timer_.expires_after(absl::ToChronoMilliseconds(left) + std::chrono::milliseconds(1));
  timer_.async_wait([this, weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (self != nullptr && !cancelled) StartTimer();
  });
}

void CpprestStream::Close() {
  delivery_.Close();
  Cancel();
  PostToPool([self = shared_from_this(), this] { timer_.cancel(); });
}

}  // namespace kube
