// Judges again and again which writes of a shadow are still due.
#ifndef CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
#define CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/client/shadow.h"
#include "kube/runtime/manager.h"

namespace cmd {

class ShadowWatch : public kube::Runnable {
 public:
  struct Deps {
    std::shared_ptr<kube::Shadow> shadow;
    const base::Clock& clock;
    // Hands every object to its controllers again.
    std::function<void(const base::StopToken& stop)> look_at_everything;
    std::function<bool()> is_idle;  // No controller has anything to do now.
  };
  // How long a round takes at least: loops put off some writes for a few seconds.
  static constexpr absl::Duration kRound = absl::Seconds(30);

  explicit ShadowWatch(Deps deps) : deps_(std::move(deps)) {}
  std::string name() const override { return "shadow"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  const Deps deps_;
};

// Returns whether, by the metrics of the queues, no controller has a request or works on one.
// Requests that wait for a time do not count.
bool QueuesAreIdle(const metrics::Registry& registry);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
