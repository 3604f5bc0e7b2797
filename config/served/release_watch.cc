#include "config/served/release_watch.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "config/served/served_release.h"

namespace config {
namespace {

constexpr absl::Duration kPeriod = absl::Minutes(1);
constexpr char kMark[] = "config/other-release";

}  // namespace

absl::Status AwaitOtherRelease(Release present, kube::Client& client, const base::StopToken& stop) {
  ServedRelease asked(client);
  while (client.clock().SleepFor(kPeriod, stop)) {
    const absl::StatusOr<Release> served = asked.Ask(stop);
    if (!served.ok()) {
      base::IgnoreError(served.status(), "the release is asked for again in a minute");
      continue;
    }
    if (*served == present) continue;
    absl::Status other = absl::AbortedError(absl::StrCat(
        "the control plane serves the definitions of Karmada ", kReleases.TextOf(*served),
        ", and this process behaves as ", kReleases.TextOf(present)));
    other.SetPayload(kMark, absl::Cord());
    return other;
  }
  return absl::OkStatus();
}

bool IsOtherRelease(const absl::Status& ended) { return ended.GetPayload(kMark).has_value(); }

void BeginAgain(char** argv, const absl::Status& why) {
  base::LogWarning("the process begins again", {{"why", why}});
  closefrom(STDERR_FILENO + 1);
  execv("/proc/self/exe", argv);
  base::LogError("the process cannot begin again", {{"error", std::strerror(errno)}});
}

}  // namespace config
