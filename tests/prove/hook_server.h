// The interpreter's webhook of a run: an HTTPS server in this process, which answers as the example
// of examples/webhook does, or otherwise, as who runs it decides for each call.
#ifndef TESTS_PROVE_HOOK_SERVER_H_
#define TESTS_PROVE_HOOK_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/http_server.h"

namespace prove {

struct HookCall {
  std::string operation;  // "InterpretHealth"; "ExploreHealthy" in the older dialect.
  std::string address;    // Of the client: "127.0.1.254".
};

// What becomes of a call.
struct HookVerdict {
  enum class Kind {
    kAnswer,
    kTwice,   // The answer comes two times on the connection.
    kCut,     // The connection is closed in the middle of the answer.
    kClose,   // It is closed without an answer.
    kSilent,  // There is no answer, and the connection stays.
    kAway,    // The server closes all connections and refuses new ones, for the length of `pause`.
  } kind = Kind::kAnswer;
  absl::Duration pause = absl::ZeroDuration();  // Before the answer.
  std::optional<base::HttpResponse> instead;    // Of the right answer.
};

// Is called on several threads, and must not block.
using HookDecision =
    std::function<HookVerdict(const HookCall& call, const base::HttpResponse& right)>;

// Where the webhook of this process is: the same for all runs, so that they can be compared.
struct HookIdentity {
  std::string url;     // "https://127.0.0.1:20123"
  std::string ca_pem;  // What vouches for its certificates.
};
const HookIdentity& IdentityOfHook();

class HookServer {
 public:
  // REQUIRES: there is no other one in this process.
  static absl::StatusOr<std::unique_ptr<HookServer>> Start(HookDecision decide);
  virtual ~HookServer() = default;  // Ends all calls.
  // Whether it refuses connections at present.
  virtual bool IsAway() const = 0;
};

}  // namespace prove

#endif  // TESTS_PROVE_HOOK_SERVER_H_
