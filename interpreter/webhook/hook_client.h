// Sends a request body to a hook and returns its response body.
#ifndef INTERPRETER_WEBHOOK_HOOK_CLIENT_H_
#define INTERPRETER_WEBHOOK_HOOK_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "interpreter/webhook/hook.h"
#include "interpreter/webhook/hook_address.h"
#include "kube/http/transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace interpreter::webhook {

using TransportFactory = std::function<absl::StatusOr<std::shared_ptr<kube::Transport>>(
    const kube::ConnectionConfig& config)>;

struct HookClientOptions {
  ServiceLookup services;      // Empty: every Service is looked up by DNS.
  TransportFactory transport;  // Empty: kube::NewCpprestTransport.
  base::StopToken stop;        // Ends calls under way.
};

// Connections are kept and shared by hooks with the same address, name and CA; a change of one of
// these makes new ones. A new certificate of the same CA does not. Thread-safe.
class HookClient {
 public:
  // REQUIRES: the clock outlives the client.
  explicit HookClient(HookClientOptions options, const base::Clock& clock = base::RealClock());

  // Blocks, at most for the hook's timeout. Redirects are not followed. A 429 or 5xx answer with
  // Retry-After is repeated when that fits into the timeout, as client-go does; other answers are
  // not. Answers larger than 3 MB are refused. Errors carry a FailureReason and upstream's text
  // from after `failed calling webhook "<uid>": `. REQUIRES: the hook is usable.
  absl::StatusOr<std::string> Call(const Hook& hook, const std::string& body) {
    return Call(hook, body, options_.stop);
  }
  // As above, but ended by this token instead of the option's.
  absl::StatusOr<std::string> Call(const Hook& hook, const std::string& body,
                                   const base::StopToken& stop);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // Server, name, CA.
  struct Kept {
    std::shared_ptr<kube::Transport> transport;
    int64_t used = 0;  // The number of the last call that used it.
  };

  absl::StatusOr<std::shared_ptr<kube::Transport>> TransportTo(
      const kube::ConnectionConfig& config);
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A body to send to a hook, and the deadline for the answer.
  struct Errand {
    const Hook& hook;
    const std::string& body;
    base::SteadyTime deadline;
  };

  absl::StatusOr<kube::HttpResponse> SendUntil(kube::Transport& transport, const Errand& errand,
                                               const base::StopToken& stop);

  const HookClientOptions options_;
  const base::Clock& clock_;
  absl::Mutex mu_;
  int64_t calls_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<Key, Kept> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_CLIENT_H_
