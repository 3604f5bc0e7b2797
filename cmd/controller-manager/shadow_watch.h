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
#include "base/stop_token.h"
#include "kube/cache/informer.h"
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
  // How long it takes at most. Then it ends without a result, and the next one may begin.
  static constexpr absl::Duration kLongestRound = absl::Minutes(5);

  explicit ShadowWatch(Deps deps) : deps_(std::move(deps)) {}
  std::string name() const override { return "shadow"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  // Ends the round if it is over; returns whether it is.
  bool EndRound(absl::Duration since_begin);

  const Deps deps_;
};

// Returns whether no informer is still reading its objects for the first time. One that cannot
// read them (its kind is missing, its server does not answer) does not count: nobody waits for it.
bool AllHaveRead(const kube::InformerSet& informers);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
