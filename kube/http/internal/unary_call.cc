// A call makes attempts, each in these steps: it takes a place in the pool, with a kept connection
// if there is one; otherwise it resolves the host name and establishes a connection; it writes the
// request; it reads the answer; it gives the place back, with the connection when the answer was
// whole and the server keeps it open. Only the lookup of the name runs on another thread. The
// caller's thread does the rest and waits in WakePoll for the socket, the deadline or the stop. All
// steps share the deadline of the call, and establishing a connection has a limit of its own
// besides.
//
// An attempt is repeated only when a kept connection broke before anything of the answer came, and
// never when a write had been sent whole, because the server may have carried it out. Errors of
// connecting and writing are marked as NotProcessed, so that the caller may send the request again.
// The answer is read even after the writing failed: a server may answer before it has read
// everything.

#include "kube/http/internal/unary_call.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/resolver.h"

namespace kube {
namespace {

// A pool may hold several connections that the server closed at the same time.
constexpr int kMaxResends = 4;
// As in Go's client: the limit for establishing the connection.
constexpr absl::Duration kDialTimeout = absl::Seconds(30);
constexpr size_t kBlock = 16 << 10;  // The largest TLS record.
// At most this is reserved because a server has announced it.
constexpr size_t kMaxReserve = 1 << 20;

// A lookup that may outlive the caller's wait for it.
class Lookup {
 public:
  Lookup() : ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Lookup() { close(ready_); }
  int fd() const { return ready_; }

  void Set(absl::StatusOr<Addresses> answer) {
    absl::MutexLock lock(&mu_);
    answer_ = std::move(answer);
    done_ = true;
    const uint64_t one = 1;
    static_cast<void>(!write(ready_, &one, sizeof one));
  }
  bool done() const {
    absl::MutexLock lock(&mu_);
    return done_;
  }
  absl::StatusOr<Addresses> Get() const {
    absl::MutexLock lock(&mu_);
    return answer_;
  }

 private:
  const int ready_;
  mutable absl::Mutex mu_;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  absl::StatusOr<Addresses> answer_ ABSL_GUARDED_BY(mu_);
};

size_t ContentLengthOf(const HttpResponse& head) {
  const auto length = head.headers.find("content-length");
  uint64_t bytes = 0;
  if (length == head.headers.end() || !absl::SimpleAtoi(length->second, &bytes)) return 0;
  return std::min<uint64_t>(bytes, kMaxReserve);
}

// Returns whether the caller stopped waiting, rather than the connection failing.
bool IsGivingUp(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsCancelled(status);
}

}  // namespace

absl::StatusOr<HttpResponse> UnaryCall::Run() {
  for (int resends = 0;; ++resends) {
    Attempt attempt = Try();
    if (!attempt.stale || resends == kMaxResends) return std::move(attempt.answer);
  }
}

absl::StatusOr<std::unique_ptr<Connection>> UnaryCall::Take() {
  if (urgent_) return peer_.pool->TakeIdle();
  return peer_.pool->Take(deadline_, stop_);
}

void UnaryCall::Give(std::unique_ptr<Connection> connection) {
  if (!urgent_) return peer_.pool->Give(std::move(connection));
  if (connection != nullptr) peer_.pool->Keep(std::move(connection));
}

UnaryCall::Attempt UnaryCall::Try() {
  auto connection = Take();
  if (!connection.ok()) return {connection.status()};
  const bool kept = *connection != nullptr;
  if (!kept) connection = Dial();
  if (!connection.ok()) {
    Give(nullptr);
    return {connection.status()};
  }
  HttpResponse answer;
  ResponseParser parser(
      {.max_body_bytes = max_body_bytes_},
      {.on_head = [&](const HttpResponse& head) { answer.body.reserve(ContentLengthOf(head)); },
       .on_body =
           [&](absl::string_view bytes) {
             absl::StrAppend(&answer.body, bytes);
             return absl::OkStatus();
           }});
  absl::Status status = WriteRequest(**connection);
  const bool sent = status.ok();
  // A server may answer, and close, before it has read everything.
  if (sent || !IsGivingUp(status)) {
    const absl::Status read = ReadAnswer(**connection, parser);
    if (sent || read.ok()) status = read;
  }
  const bool whole = status.ok();
  Give(whole && sent && parser.keeps_connection() ? *std::move(connection) : nullptr);
  if (!whole) {
    const bool broken = kept && absl::IsUnavailable(status) && !parser.started();
    // A server that has received a whole write may have executed it before the connection broke.
    const bool stale = broken && (!sent || is_read());
    return {std::move(status), stale};
  }
  answer.code = parser.head().code;
  answer.headers = std::move(parser.head().headers);
  return {std::move(answer)};
}

absl::StatusOr<Addresses> UnaryCall::Resolve() {
  const Route& route = *peer_.route;
  if (const auto address = NumericAddress(route.dialled_host(), route.dialled_port())) {
    return Addresses{*address};
  }
  const auto lookup = std::make_shared<Lookup>();
  if (lookup->fd() < 0) {
    return absl::UnavailableError(absl::StrCat("the host name \"", route.dialled_host(),
                                               "\" cannot be resolved: ", NoDescriptor()));
  }
  ResolveInBackground(
      {route.dialled_host(), route.dialled_port(), route.urgent},
      [lookup](absl::StatusOr<Addresses> answer) { lookup->Set(std::move(answer)); });
  while (!lookup->done()) {
    const absl::Status waited =
        poll_.Await(lookup->fd(), POLLIN, base::SteadyTime::InfiniteFuture(), deadline_);
    if (absl::IsDeadlineExceeded(waited)) {
      return absl::DeadlineExceededError(absl::StrCat("no answer in time: the host name \"",
                                                      route.dialled_host(),
                                                      "\" is still being resolved"));
    }
    RETURN_IF_ERROR(waited);
  }
  return lookup->Get();
}

absl::StatusOr<std::unique_ptr<Connection>> UnaryCall::Dial() {
  absl::StatusOr<Addresses> addresses = Resolve();
  if (!addresses.ok()) {
    const bool failed = absl::IsUnavailable(addresses.status());
    return failed ? NotProcessed(addresses.status()) : addresses.status();
  }
  auto connection = std::make_unique<Connection>(peer_.route, *std::move(addresses));
  RETURN_IF_ERROR(AwaitEstablished(*connection));
  return connection;
}

absl::Status UnaryCall::AwaitEstablished(Connection& connection) {
  const base::SteadyTime give_up = SteadyNow() + kDialTimeout;
  while (true) {
    const absl::StatusOr<bool> established = connection.Establish();
    if (!established.ok()) return NotProcessed(established.status());
    if (*established) return absl::OkStatus();
    const base::SteadyTime look_again = std::min(connection.look_again(), give_up);
    const absl::Status waited =
        poll_.Await(connection.fd(), connection.wants(), look_again, deadline_);
    const std::string what = absl::StrCat("no connection to ", peer_.route->DialledName());
    if (absl::IsDeadlineExceeded(waited)) {
      return absl::DeadlineExceededError(absl::StrCat("no answer in time: ", what));
    }
    RETURN_IF_ERROR(waited);
    if (SteadyNow() < give_up) continue;
    return NotProcessed(
        absl::UnavailableError(absl::StrCat(what, " within ", absl::FormatDuration(kDialTimeout))));
  }
}

absl::Status UnaryCall::WriteRequest(Connection& connection) {
  absl::string_view left = request_;
  while (!left.empty()) {
    const IoResult result = connection.Write(left);
    if (result.state == IoState::kDone) {
      left.remove_prefix(result.bytes);
    } else if (result.state == IoState::kBroken || result.state == IoState::kEnd) {
      const std::string why = result.error.empty() ? "closed by the peer" : result.error;
      return NotProcessed(absl::UnavailableError(
          absl::StrCat("the connection broke before the request was sent: ", why)));
    } else {
      RETURN_IF_ERROR(poll_.Await(connection.fd(), connection.wants(),
                                  base::SteadyTime::InfiniteFuture(), deadline_));
    }
  }
  return absl::OkStatus();
}

absl::Status UnaryCall::ReadAnswer(Connection& connection, ResponseParser& parser) {
  char block[kBlock];
  // The answer takes some time, so a read before poll() would nearly always find nothing.
  for (bool has_more = connection.has_pending(); !parser.done();) {
    if (!has_more) {
      RETURN_IF_ERROR(poll_.Await(connection.fd(), connection.wants(),
                                  base::SteadyTime::InfiniteFuture(), deadline_));
    }
    const IoResult result = connection.Read(block, sizeof block);
    has_more = result.state == IoState::kDone && connection.has_pending();
    if (result.state == IoState::kDone) {
      RETURN_IF_ERROR(parser.Feed(absl::string_view(block, result.bytes)));
    } else if (result.state == IoState::kBroken || result.state == IoState::kEnd) {
      if (parser.End(result.state == IoState::kEnd).ok()) break;
      const std::string why = result.error.empty() ? "closed by the peer" : result.error;
      return absl::UnavailableError(
          absl::StrCat(parser.started() ? "the connection broke inside the answer: "
                                        : "the connection broke before an answer came: ",
                       why));
    }
  }
  return absl::OkStatus();
}

}  // namespace kube
