// The responder that handlers get: it completes the heads of answers, notices how the request ends,
// and can be expired.
#ifndef KUBE_AGGREGATION_GUARDED_RESPONDER_H_
#define KUBE_AGGREGATION_GUARDED_RESPONDER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"

namespace kube::aggregation {

// Thread-safe.
class GuardedResponder : public base::HttpResponder,
                         public std::enable_shared_from_this<GuardedResponder> {
 public:
  using SendFn = std::function<void(base::HttpResponse)>;
  // Are called on the threads that cause them, with no lock held.
  struct Hooks {
    // Changes the head of each answer before it is sent.
    std::function<void(base::HttpResponse& head)> complete;
    // The head of a stream, or of a change of protocol, has been sent.
    std::function<void(int code)> started;
    // Is called once: the answer is complete, or has been broken off, or there is none (code 0).
    std::function<void(int code)> finished;
    // Sends the handler's whole answer by calling `send` once, now or later, on any thread: a place
    // to compress it.
    std::function<void(base::HttpResponse answer, SendFn send)> deliver;
    // Nobody reads any more: the connection is gone, or has got the whole answer.
    std::function<void()> closed;
  };
  // What the request holds as long as its handler is at work: until it has answered whole, or its
  // stream or tunnel has ended, or it has dropped the responder. An answer of Expire does not end
  // that, because the handler goes on.
  using Held = std::vector<std::shared_ptr<const void>>;

  GuardedResponder(std::shared_ptr<base::HttpResponder> inner, Hooks hooks);
  ~GuardedResponder() override;

  void Send(base::HttpResponse response) override;
  std::shared_ptr<base::HttpStream> StartStream(base::HttpResponse head) override;
  std::shared_ptr<base::HttpTunnel> Upgrade(base::HttpResponse head) override;
  void Abort() override;
  void OnClosed(std::function<void()> callback) override;

  // Answers in the handler's place if it has not begun; cuts the connection if it has not finished.
  // What the handler sends afterwards is dropped.
  void Expire(base::HttpResponse response);
  // Returns a function that does what Expire does, also after the handler has let go of this object
  // and its stream goes on. It keeps nothing alive.
  std::function<void(base::HttpResponse)> Expirer();
  void Hold(std::shared_ptr<const void> held);
  // The same, but lets go already when a stream begins: what remains to be done is the peer's.
  void HoldUntilStream(std::shared_ptr<const void> held);

  // Declared here because the wrappers of streams and tunnels use them.
  class Ending;
  class LateCallback;

 private:
  // Returns the responder to answer with, nullptr if there has been an answer.
  std::shared_ptr<base::HttpResponder> Take();

  const std::shared_ptr<Ending> ending_;
  const std::shared_ptr<LateCallback> closed_;  // The handler's.
  absl::Mutex mu_;
  std::shared_ptr<base::HttpResponder> inner_ ABSL_GUARDED_BY(mu_);  // nullptr once it was used.
};

}  // namespace kube::aggregation

#endif  // KUBE_AGGREGATION_GUARDED_RESPONDER_H_
