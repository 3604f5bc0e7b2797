// The door through which a test interferes with one simulated API server: with each request before
// it is executed and before it is answered, with how far behind the reads of a client are, and with
// when watches deliver what.
//
//   class KillAtWrite : public sandbox::Interference {
//     sandbox::RequestVerdict OnRequest(const sandbox::RequestPtr& request) override {
//       if (!request->IsWrite() || ++writes_ != 7) return {};
//       hold_ = std::make_shared<sandbox::Hold>();
//       return sandbox::RequestVerdict::Wait(hold_);  // Then: kill the client, hold_->Drop().
//     }
//   };
//   server.SetInterference(std::make_shared<KillAtWrite>());
//
// Threads: all functions of Interference are called on threads of the server (or of whoever calls a
// Hold, Lag or WatchGate), holding none of the server's locks that any function here takes, and
// must not block: who wants to wait returns a Hold. They may call everything declared here, write
// to the server's Backend, and kill the client; they must not stop or partition a server.
#ifndef SANDBOX_HTTP_INTERFERENCE_H_
#define SANDBOX_HTTP_INTERFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/server/request_info.h"
#include "sandbox/http/hold.h"
#include "sandbox/http/lag.h"
#include "sandbox/http/watch_gate.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {

// What is known about a request before it is executed. Immutable, and may be kept.
struct RequestFacts {
  int64_t number = 0;                             // From 1 on, since the interference was set.
  std::string server;                             // ApiServerOptions::name.
  std::string client;                             // The first word of the user agent.
  kube::server::RequestInfo info;                 // Verb, resource, namespace, name, subresource.
  bool dry_run = false;                           // It asks for a dry run, so it stores nothing.
  std::shared_ptr<const base::HttpRequest> http;  // Path, query, headers, body, user agent.

  // As the verb of audit logs, but "apply" for a patch that is a server-side apply.
  std::string Verb() const;
  // Whether it may change what is stored: create, update, patch, apply, delete, deletecollection of
  // a resource, dry runs and reviews (SubjectAccessReview and the like) excepted.
  bool IsWrite() const;
  // Reads the body as the server does: JSON, YAML or protobuf.
  absl::StatusOr<json::Value> Body() const;
  // "karmada-apiserver 17 update deployments.apps/status default/web", for records.
  std::string ToString() const;
};
using RequestPtr = std::shared_ptr<const RequestFacts>;

// What a request has come to, before the client gets the answer.
struct Outcome {
  int code = 0;         // Of the answer.
  kube::ObjectKey key;  // Of the object in the answer, such as the generated name; or empty.
  // resourceVersion of the object or list in the answer; 0 when it has none.
  int64_t version = 0;
  // The resourceVersions of the changes that this request has made in the store: one for each
  // object of a deletecollection, none for a write that changes nothing or was refused. What other
  // parts of the server write because of it (definitions, controllers) is not listed.
  std::vector<int64_t> stored;

  bool changed() const { return !stored.empty(); }
};

// What becomes of a request before it is executed.
struct RequestVerdict {
  enum class Kind { kPass, kRefuse, kClose, kWait } kind = Kind::kPass;
  ApiError error;              // For kRefuse.
  std::shared_ptr<Hold> hold;  // For kWait.
  // What the request reads if it passes; null for the present state. For get, list and watch.
  std::shared_ptr<Lag> lag;
  // What decides about the deliveries of a watch; null for none. One gate may have many watches.
  std::shared_ptr<WatchGate> gate;

  static RequestVerdict Pass() { return {}; }
  // It is answered with an error and not executed.
  static RequestVerdict Refuse(ApiError error) {
    return {.kind = Kind::kRefuse, .error = std::move(error)};
  }
  // The connection is closed without an answer; it is not executed.
  static RequestVerdict Close() { return {.kind = Kind::kClose}; }
  // It waits at `hold`. Released, it is executed, even if its client has gone meanwhile, as what
  // the network still delivers of a dead client. Dropped, it is not, and the connection is closed.
  static RequestVerdict Wait(std::shared_ptr<Hold> hold) {
    return {.kind = Kind::kWait, .hold = std::move(hold)};
  }
  // It passes and reads through a lag, or delivers through a gate.
  static RequestVerdict Read(std::shared_ptr<Lag> lag, std::shared_ptr<WatchGate> gate = nullptr) {
    return {.lag = std::move(lag), .gate = std::move(gate)};
  }
};

// What becomes of the answer to a request that was executed.
struct AnswerVerdict {
  enum class Kind { kPass, kReplace, kClose, kCut, kWait } kind = Kind::kPass;
  ApiError error;              // For kReplace.
  size_t bytes = 0;            // For kCut.
  std::shared_ptr<Hold> hold;  // For kWait.

  static AnswerVerdict Pass() { return {}; }
  // The client gets an error instead: a timeout after the execution, for instance.
  static AnswerVerdict Replace(ApiError error) {
    return {.kind = Kind::kReplace, .error = std::move(error)};
  }
  // The connection is closed without an answer.
  static AnswerVerdict Close() { return {.kind = Kind::kClose}; }
  // The client gets the head, which promises the whole length, and the first `bytes` of the body
  // (at least one less than there are); then the connection is closed.
  static AnswerVerdict Cut(size_t bytes) { return {.kind = Kind::kCut, .bytes = bytes}; }
  // The answer waits at `hold`: released, it is sent; dropped, the connection is closed.
  static AnswerVerdict Wait(std::shared_ptr<Hold> hold) {
    return {.kind = Kind::kWait, .hold = std::move(hold)};
  }
};

// For the server: what is known from the request, without the number.
RequestFacts FactsOf(std::string server, const kube::server::RequestInfo& info,
                     const base::HttpRequest& request);

// Returns the usual reason and message of a kube-apiserver for this code, with Retry-After unless
// it is zero: InjectedError(429, absl::Seconds(1)).
ApiError InjectedError(int code, absl::Duration retry_after = absl::ZeroDuration());
// As above, with other texts: InjectedError(500, "InternalError", "etcdserver: request timed out").
ApiError InjectedError(int code, std::string reason, std::string message,
                       absl::Duration retry_after = absl::ZeroDuration());

// One test's interference with one server, or with several: facts name the server. The functions do
// nothing unless they are overridden. The server keeps the object until another one is set, and
// beyond that while requests and watches that began under it go on.
class Interference {
 public:
  virtual ~Interference() = default;

  // Is called for each request on its arrival: before authentication, before any other fault, and
  // before anything is executed. For one server these calls come one at a time, in the order of the
  // numbers. Requests whose heads are refused (no credentials, too long) do not come here.
  virtual RequestVerdict OnRequest(const RequestPtr& /*request*/) { return {}; }

  // Is called when a request that passed has been executed (or was refused by the server itself),
  // before its answer is sent. What it has changed may have been delivered to watches already, or
  // be delivered later. For a watch it is called before the first delivery; kClose and kCut end it
  // then (see WatchGate for later), kReplace and kWait have no effect. Calls for several requests
  // may come at the same time; the order of writes is that of Outcome::stored.
  virtual AnswerVerdict OnExecuted(const RequestPtr& /*request*/, const Outcome& /*outcome*/) {
    return {};
  }

  // Are called for each event or bookmark of a watch: once when it is held back, by a lag or a
  // gate, and once right before it is sent. For one watch the calls come in the order of sending.
  virtual void OnHeldBack(const Delivery& /*delivery*/) {}
  virtual void OnDelivery(const Delivery& /*delivery*/) {}
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_INTERFERENCE_H_
