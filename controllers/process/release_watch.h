// Notices that the control plane below the running process has become one of another release.
#ifndef CONTROLLERS_PROCESS_RELEASE_WATCH_H_
#define CONTROLLERS_PROCESS_RELEASE_WATCH_H_

#include <functional>
#include <string>
#include <utility>

#include "config/release.h"
#include "config/served/served_release.h"
#include "kube/client/client.h"
#include "kube/runtime/manager.h"

namespace controllers {

// Ends with an error for which this holds when the release is no longer `present`: then the process
// has to begin again, because gates and reasons are those of a release from the start on.
bool IsOtherRelease(const absl::Status& ended);

// Executes the program again in this process, so that its supervisor and its number stay; `argv` is
// that of the process. Returns only if that is not possible: then the process ends, and its
// supervisor starts it again.
void BeginAgain(char** argv, const absl::Status& why);

// Asks once in a minute. An answer that cannot be had changes nothing.
class ReleaseWatch : public kube::Runnable {
 public:
  // `on_change` is called before the end. REQUIRES: `client` outlives the runnable.
  ReleaseWatch(config::Release present, kube::Client& client, std::function<void()> on_change)
      : present_(present), client_(client), served_(client), on_change_(std::move(on_change)) {}

  std::string name() const override { return "release watch"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  const config::Release present_;
  kube::Client& client_;
  config::ServedRelease served_;
  const std::function<void()> on_change_;
};

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_RELEASE_WATCH_H_
