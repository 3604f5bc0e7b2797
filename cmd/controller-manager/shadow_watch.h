// Judges again and again which writes of a shadow are still due, and ends the shadow when it has to
// report and the verdict is there.
#ifndef CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
#define CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "cmd/controller-manager/shadow_report.h"
#include "kube/cache/informer.h"
#include "kube/runtime/manager.h"
#include "kube/shadow/shadow.h"

namespace cmd {

class ShadowWatch : public kube::Runnable {
 public:
  struct Deps {
    std::shared_ptr<kube::Shadow> shadow;
    const base::Clock& clock;
    // Hands every object to its controllers again.
    std::function<void(const base::StopToken& stop)> look_at_everything;
    std::function<bool()> is_idle;  // No controller has anything to do now.
    // All that could not be looked at the last time.
    std::function<kube::Shadow::Failing()> failing;
    // Reads what the control plane shows of the leader's failures. Optional.
    std::function<void(const base::StopToken& stop)> read_shown_failures = {};
    // Returns whether the control plane shows that a cluster does not answer. Optional.
    std::function<bool(const std::string& cluster)> is_down = {};
    // Called once, with the verdict and what failed when it was found; null when the shadow runs
    // until it is stopped. Run returns then. A stop before that is kUndecided.
    std::function<void(const ShadowResult& result, const kube::Shadow::Failing& failing)> end = {};
    absl::Duration time_limit = {};  // When `end` is called at the latest; 0: never.
  };
  // How long a round takes at least: loops put off some writes for a few seconds.
  static constexpr absl::Duration kRound = absl::Seconds(30);
  // How long it takes at most. Then it ends without a result, and the next one may begin.
  static constexpr absl::Duration kLongestRound = absl::Minutes(5);
  // What fails for so long is taken to go on failing: a round does not wait for it.
  static constexpr absl::Duration kStanding = absl::Seconds(15);
  // How often the control plane is asked for failures that it shows.
  static constexpr absl::Duration kReadPeriod = absl::Seconds(30);
  // How many failures the page lists. All are compared with what the leader shows.
  static constexpr size_t kMostFailures = 200;

  explicit ShadowWatch(Deps deps) : deps_(std::move(deps)) {}
  std::string name() const override { return "shadow"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  // Takes note of what fails now, and of since when.
  void NoteFailing(const kube::Shadow::Failing& failing);
  // Returns whether each of these failures has been there for kStanding.
  bool AllStanding(const kube::Shadow::Failing& failing) const;
  // Ends the round if it is over; returns whether it is.
  bool EndRound(absl::Duration since_begin);
  void BeginRound(const base::StopToken& stop);
  // Calls deps_.end if there is a verdict, or no time left. Returns whether it has.
  bool End(const base::StopToken& stop);
  // Calls deps_.end if there is one.
  void EndStopped();
  bool IsDown(const std::string& cluster) const;
  void ReadShown(const base::StopToken& stop);

  const Deps deps_;
  base::SteadyTime began_, read_at_ = base::SteadyTime::InfinitePast();
  base::SteadyTime round_began_ = base::SteadyTime::InfinitePast();  // That while there is none.
  // What failed in the last pass.
  kube::Shadow::Failing failing_;
  // When each failure that is there now was first seen; by controller and key.
  std::map<std::pair<std::string, std::string>, base::SteadyTime> failing_since_;
};

// Returns whether no informer is still reading its objects for the first time. One that cannot read
// them (its kind is missing, its server does not answer) is not waited for: AddUnread counts it.
bool AllHaveRead(const kube::InformerSet& informers);

// Adds all kinds of one server whose cache could not be listed or followed the last time, with
// `server` before the kind. A kind that the server does not serve has no objects and does not
// count, as long as the server answers for another one: a proxy without a server says the same.
void AddUnread(const std::string& server, const std::vector<const kube::InformerSet*>& of_server,
               kube::Shadow::Failing& failing);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
