// Judges again and again which writes of a shadow are still due.
#ifndef CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
#define CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/clock.h"
#include "kube/client/shadow.h"
#include "kube/runtime/manager.h"

namespace cmd {

class ShadowWatch : public kube::Runnable {
 public:
  // REQUIRES: `clock` outlives this object.
  ShadowWatch(std::shared_ptr<kube::Shadow> shadow, const base::Clock& clock)
      : shadow_(std::move(shadow)), clock_(clock) {}
  std::string name() const override { return "shadow"; }
  absl::Status Run(const base::StopToken& stop) override {
    while (clock_.SleepFor(kube::Shadow::kPeriod, stop)) shadow_->Judge(stop);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<kube::Shadow> shadow_;
  const base::Clock& clock_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_SHADOW_WATCH_H_
