#include "config/served/release_watch.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"

namespace config {
namespace {

constexpr char kMark[] = "config/other-release";

}  // namespace

absl::Status CheckRelease(Release present, ServedRelease& served, const base::StopToken& stop) {
  const absl::StatusOr<Release> answer = served.Ask(stop);
  if (!answer.ok()) {
    base::IgnoreError(answer.status(), "the release is asked for again in a minute");
    return absl::OkStatus();
  }
  if (*answer == present) return absl::OkStatus();
  absl::Status other = absl::AbortedError(absl::StrCat(
      "the control plane serves the definitions of Karmada ", kReleases.TextOf(*answer),
      ", and this process behaves as ", kReleases.TextOf(present)));
  other.SetPayload(kMark, absl::Cord());
  return other;
}

absl::Status AwaitOtherRelease(Release present, kube::Client& client, const base::StopToken& stop) {
  ServedRelease asked(client);
  while (client.clock().SleepFor(kReleaseLookPeriod, stop)) {
    RETURN_IF_ERROR(CheckRelease(present, asked, stop));
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
