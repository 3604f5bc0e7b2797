#include "controllers/process/release_watch.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"

namespace controllers {
namespace {

constexpr absl::Duration kPeriod = absl::Minutes(1);
constexpr char kMark[] = "controllers/other-release";

}  // namespace

bool IsOtherRelease(const absl::Status& ended) { return ended.GetPayload(kMark).has_value(); }

void BeginAgain(char** argv, const absl::Status& why) {
  base::LogWarning("the process begins again", {{"why", why}});
  closefrom(STDERR_FILENO + 1);
  execv("/proc/self/exe", argv);
  base::LogError("the process cannot begin again", {{"error", std::strerror(errno)}});
}

absl::Status ReleaseWatch::Run(const base::StopToken& stop) {
  while (client_.clock().SleepFor(kPeriod, stop)) {
    const absl::StatusOr<config::Release> served = served_.Ask(stop);
    if (!served.ok()) {
      base::IgnoreError(served.status(), "the release is asked for again in a minute");
      continue;
    }
    if (*served == present_) continue;
    absl::Status other = absl::AbortedError(absl::StrCat(
        "the control plane serves the definitions of Karmada ", config::kReleases.TextOf(*served),
        ", and this process behaves as ", config::kReleases.TextOf(present_)));
    other.SetPayload(kMark, absl::Cord());
    on_change_();
    return other;
  }
  return absl::OkStatus();
}

}  // namespace controllers
