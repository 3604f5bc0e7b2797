// Notices that the control plane below the running process has become one of another release.
#ifndef CONFIG_SERVED_RELEASE_WATCH_H_
#define CONFIG_SERVED_RELEASE_WATCH_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "config/release.h"
#include "config/served/served_release.h"
#include "kube/client/client.h"

namespace config {

// Asks the control plane once in a minute of which release its definitions are. Returns OK after a
// stop, and an error for which IsOtherRelease holds when the release is no longer `present`: then
// the process has to begin again, because gates, reasons and defaults are those of a release from
// the start on. An answer that cannot be had changes nothing. Blocks.
absl::Status AwaitOtherRelease(Release present, kube::Client& client, const base::StopToken& stop);

// Asks once, and returns the error that AwaitOtherRelease would. An answer that cannot be had is
// OK.
absl::Status CheckRelease(Release present, ServedRelease& served, const base::StopToken& stop);
// How often AwaitOtherRelease asks.
inline constexpr absl::Duration kReleaseLookPeriod = absl::Minutes(1);

// Returns whether it is the error of AwaitOtherRelease, whatever has been added to its message.
bool IsOtherRelease(const absl::Status& ended);

// Executes the program again in this process, so that its supervisor and its number stay; `argv` is
// that of the process. Returns only if that is not possible: then the process ends, and its
// supervisor starts it again.
void BeginAgain(char** argv, const absl::Status& why);

}  // namespace config

#endif  // CONFIG_SERVED_RELEASE_WATCH_H_
