#include "cmd/agent/control_plane_reach.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/log.h"
#include "base/random.h"
#include "base/repeated_errors.h"
#include "base/status.h"
#include "kube/client/refused_credentials.h"
#include "kube/runtime/serving_names.h"
#include "kube/runtime/startup_health.h"

namespace cmd {
namespace {

// The links of members may be slow.
constexpr absl::Duration kLongestAnswer = absl::Seconds(20);
// The agents of many members must not all come at once when the control plane is back.
constexpr absl::Duration kFirstPause = absl::Seconds(2), kLongestPause = absl::Seconds(10);
constexpr double kJitter = 0.5;
constexpr int kUnauthorized = 401, kTooManyRequests = 429, kServerError = 500;

// Returns why the control plane cannot be worked with, as long as that may pass.
absl::Status Ask(kube::Client& client, const base::StopToken& stop) {
  const auto answer = client.GetRaw("/version", kLongestAnswer, stop);
  RETURN_IF_ERROR(answer.status());
  if (answer->code == kUnauthorized) {
    return absl::UnauthenticatedError(
        absl::StrCat("it refuses the credentials of --karmada-kubeconfig ",
                     kube::kRefusedCredentials, "; replace the kubeconfig, which is read again"));
  }
  if (answer->code == kTooManyRequests || answer->code >= kServerError) {
    return absl::UnavailableError(absl::StrCat("it answers GET /version with ", answer->code));
  }
  return absl::OkStatus();
}

// Uses a kubeconfig that has changed; says so, and what is wrong with it, once.
class Kubeconfig {
 public:
  explicit Kubeconfig(ControlPlaneAccess& access) : access_(access) {}

  // Returns whether it has changed.
  bool Look() {
    const absl::StatusOr<bool> changed = access_.Reload();
    if (changed.ok() && *changed) base::LogInfo("the kubeconfig of the control plane has changed");
    if (!changed.ok() && changed.status() != last_) {
      base::LogWarning("the kubeconfig of the control plane cannot be read again",
                       {{"error", changed.status()}});
    }
    last_ = changed.status();
    return changed.ok() && *changed;
  }

 private:
  ControlPlaneAccess& access_;
  absl::Status last_;
};

void Report(const std::string& host, const absl::Status& why, base::RepeatedErrors& reported) {
  const auto verdict = reported.Note(why.ToString(), base::RealClock().SteadyNow());
  if (!verdict.log) return;
  const std::string more = verdict.More();
  base::LogWarning(absl::StrCat("the agent waits for its control plane, and "
                                "leaves the cluster as it is",
                                more.empty() ? "" : ", ", more),
                   {{"control plane", host}, {"error", why}});
}

}  // namespace

absl::Status AwaitReach(kube::Client& client, ControlPlaneAccess& access,
                        const std::string& health_address, const base::StopToken& stop) {
  std::optional<std::unique_ptr<base::HttpServer>> health;
  base::RepeatedErrors reported;
  Kubeconfig kubeconfig(access);
  absl::Duration pause = kFirstPause;
  for (;;) {
    const absl::Status reached = Ask(client, stop);
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    if (reached.ok() && health.has_value()) base::LogInfo("the control plane is there");
    if (reached.ok()) return absl::OkStatus();
    Report(access.host(), reached, reported);
    if (!health.has_value()) {
      auto served = kube::ServeStartupHealth(
          health_address,
          {"control-plane", absl::StrCat("the agent waits for the control plane ", access.host(),
                                         "; the log says what is wrong")});
      RETURN_IF_ERROR(base::Annotate(served.status(), kube::kServingHealth));
      health = *std::move(served);
    }
    if (!base::RealClock().SleepFor(base::Jitter(pause, kJitter), stop)) {
      return absl::CancelledError("stopped");
    }
    pause = kubeconfig.Look() ? kFirstPause : std::min(pause * 2, kLongestPause);
  }
}

}  // namespace cmd
