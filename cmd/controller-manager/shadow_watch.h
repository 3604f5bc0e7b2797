// Judges again and again which writes of a shadow are still due.
#ifndef CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
#define CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
    // How much could not be looked at the last time (Shadow::Failing).
    std::function<size_t()> failing;
  };
  // How long a round takes at least: loops put off some writes for a few seconds.
  static constexpr absl::Duration kRound = absl::Seconds(30);
  // How long it takes at most. Then it ends without a result, and the next one may begin.
  static constexpr absl::Duration kLongestRound = absl::Minutes(5);
  // How many failures the page lists, and how many of these are keys.
  static constexpr size_t kMostFailures = 200;
  static constexpr size_t kMostFailingKeys = 100;

  explicit ShadowWatch(Deps deps) : deps_(std::move(deps)) {}
  std::string name() const override { return "shadow"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  // Ends the round if it is over; returns whether it is.
  bool EndRound(absl::Duration since_begin, size_t failing);

  const Deps deps_;
};

// Returns whether no informer is still reading its objects for the first time. One that cannot read
// them (its kind is missing, its server does not answer) is not waited for: AddUnread counts it.
bool AllHaveRead(const kube::InformerSet& informers);

// Adds the kinds of one server whose cache could not be listed or followed the last time, with
// `server` before the kind. A kind that the server does not serve has no objects and does not
// count, as long as the server answers for another one: a proxy without a server says the same.
void AddUnread(const std::string& server, const std::vector<const kube::InformerSet*>& of_server,
               kube::Shadow::Failing& failing);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
