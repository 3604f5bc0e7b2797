// The link between an agent and its control plane, which a test cuts, slows down and damages; and
// what the agent has sent over it. A second one at the member only counts.
#ifndef TESTS_AGENTS_DAY_LINK_H_
#define TESTS_AGENTS_DAY_LINK_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "sandbox/http/interference.h"

namespace tests {

// One request of the agent.
struct Sent {
  base::SteadyTime at;
  std::string what;  // "patch deployments.apps default/web", with a subresource
                     // behind the kind.
  bool is_write = false;
  int code = 0;  // Of its answer; 0 when it got none.
};

enum class LinkState {
  kUp,
  kRefused,  // Connections are closed at once.
  kSilent,   // Nothing is answered, nothing is delivered, and nothing closes a
             // connection.
  kCut,      // Answers end in their middle, and watches after their first event.
};

// Concerns the agent only, which is known by the address that it does not connect from: that of the
// controller manager beside it (prove::kBesideAddress). Thread-safe.
class Link : public sandbox::Interference {
 public:
  Link();
  ~Link() override;

  // Also cuts what is open, or holds it.
  void Set(LinkState state) ABSL_LOCKS_EXCLUDED(mu_);
  // From now on each request takes so long before it is executed.
  void SetDelay(absl::Duration delay) ABSL_LOCKS_EXCLUDED(mu_);

  // Holds the next request whose words (Sent::what) begin with `what`: before it is executed, or
  // the answer to it. What is held is dropped by Set.
  void HoldNext(const std::string& what, bool executed) ABSL_LOCKS_EXCLUDED(mu_);
  bool Holds() const ABSL_LOCKS_EXCLUDED(mu_);

  // What was sent since the moment, oldest first.
  std::vector<Sent> Since(base::SteadyTime moment) const ABSL_LOCKS_EXCLUDED(mu_);
  // Of these, the writes of anything but Leases and events, in words.
  std::vector<std::string> WritesSince(base::SteadyTime moment) const;

  sandbox::RequestVerdict OnRequest(const sandbox::RequestPtr& request) override;
  sandbox::AnswerVerdict OnExecuted(const sandbox::RequestPtr& request,
                                    const sandbox::Outcome& outcome) override;

 private:
  using HoldPtr = std::shared_ptr<sandbox::Hold>;
  // Returns the hold if this is the one that HoldNext waits for; otherwise nullptr.
  HoldPtr HoldFor(const std::string& what, bool executed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunTimer();

  mutable absl::Mutex mu_;
  LinkState state_ ABSL_GUARDED_BY(mu_) = LinkState::kUp;
  absl::Duration delay_ ABSL_GUARDED_BY(mu_) = absl::ZeroDuration();
  std::vector<Sent> sent_ ABSL_GUARDED_BY(mu_);
  std::vector<int64_t> numbers_ ABSL_GUARDED_BY(mu_);  // Of the requests in sent_.
  std::vector<HoldPtr> held_ ABSL_GUARDED_BY(mu_);
  std::string next_ ABSL_GUARDED_BY(mu_);  // What HoldNext waits for; "" for nothing.
  bool next_is_executed_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<std::pair<base::SteadyTime, HoldPtr>> delayed_ ABSL_GUARDED_BY(mu_);  // By their ends.
  const std::shared_ptr<sandbox::WatchGate> gate_ = std::make_shared<sandbox::WatchGate>();
  base::StopSource stop_;
  std::thread timer_;  // Ends delays.
};

}  // namespace tests

#endif  // TESTS_AGENTS_DAY_LINK_H_
