// One request and its whole answer, on the thread that waits for it.
#ifndef KUBE_HTTP_INTERNAL_UNARY_CALL_H_
#define KUBE_HTTP_INTERNAL_UNARY_CALL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/connection_pool.h"
#include "kube/http/internal/response_parser.h"
#include "kube/http/internal/wake_poll.h"
#include "kube/http/transport.h"

namespace kube {

// A server and the kept connections to it.
struct Peer {
  std::shared_ptr<const Route> route;
  std::shared_ptr<ConnectionPool> pool;
};

class UnaryCall {
 public:
  struct Limits {
    uint64_t max_body_bytes;
    base::SteadyTime deadline;  // In SteadyNow's time.
    bool urgent = false;        // Takes no place in the pool, and so waits for none.
  };
  // REQUIRES: the arguments outlive the call.
  UnaryCall(const Peer& peer, const std::string& request, const Limits& limits,
            const base::StopToken& stop)
      : peer_(peer),
        request_(request),
        max_body_bytes_(limits.max_body_bytes),
        deadline_(limits.deadline),
        urgent_(limits.urgent),
        stop_(stop),
        poll_(stop) {}

  // Has the contract of Transport::Send. A kept connection that turns out to be closed before
  // anything of an answer came is replaced and the request sent again, unless it is a write that
  // was sent completely.
  absl::StatusOr<HttpResponse> Run();

 private:
  // The result of one attempt.
  struct Attempt {
    absl::StatusOr<HttpResponse> answer;
    bool stale = false;  // True if a kept connection had been closed already.
  };

  bool is_read() const { return absl::StartsWith(request_, "GET "); }
  Attempt Try();
  // Return a kept connection, nullptr if there is none; and give it back, nullptr if it cannot be
  // used again.
  absl::StatusOr<std::unique_ptr<Connection>> Take();
  void Give(std::unique_ptr<Connection> connection);
  absl::StatusOr<Addresses> Resolve();
  absl::StatusOr<std::unique_ptr<Connection>> Dial();
  absl::Status AwaitEstablished(Connection& connection);
  absl::Status WriteRequest(Connection& connection);
  absl::Status ReadAnswer(Connection& connection, ResponseParser& parser);

  const Peer& peer_;
  const std::string& request_;
  const uint64_t max_body_bytes_;
  const base::SteadyTime deadline_;
  const bool urgent_;
  const base::StopToken& stop_;
  WakePoll poll_;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_UNARY_CALL_H_
