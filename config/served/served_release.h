// Finds out which release of Karmada a control plane has, from its definitions, and reports as
// which release a program behaves.
#ifndef CONFIG_SERVED_SERVED_RELEASE_H_
#define CONFIG_SERVED_SERVED_RELEASE_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "config/release.h"
#include "kube/client/client.h"

namespace config {

// As which a program behaves where the release of the control plane cannot be known.
inline constexpr Release kOldestRelease = Release::kV1_18;

// Returns the release that the schema of ResourceBinding shows (config/binding_schema.h) in the
// OpenAPI document (version 3) of work.karmada.io/v1alpha2; kNotFound without that schema.
absl::StatusOr<Release> ReleaseOf(const json::Value& document);

// Asks one control plane, again and again. Not thread-safe.
class ServedRelease {
 public:
  // REQUIRES: `client` outlives the object.
  explicit ServedRelease(kube::Client& client) : client_(client) {}

  // Returns the release, with one GET, which the server answers with 304 while nothing has changed.
  // kPermissionDenied and kUnauthenticated say that the server does not show its OpenAPI document
  // to this user, kNotFound that it does not show it yet, or not the kind, and other codes that it
  // could not be asked.
  absl::StatusOr<Release> Ask(const base::StopToken& stop);

 private:
  kube::Client& client_;
  std::string etag_;
  std::optional<Release> known_;
};

struct ReleaseWait {
  absl::Duration patience;  // How long a server that cannot be asked is asked again.
  // Called once, before the first wait; an error ends it. May be empty.
  std::function<absl::Status()> on_wait = nullptr;
  // How long a server is asked again that does not show the kind.
  absl::Duration until_shown = absl::Seconds(30);
};

// Returns the release as which a program begins: `wanted` if the user has given one, else the one
// that is served. It asks again, every two seconds, while the server cannot be asked, and returns
// the last error when the patience is over. A server that refuses its OpenAPI document, or that
// does not show the kind in time, is taken to be of the oldest release, with a warning in the log.
// kCancelled after a stop.
absl::StatusOr<Release> AwaitRelease(std::optional<Release> wanted, kube::Client& client,
                                     const ReleaseWait& wait, const base::StopToken& stop);

// Writes one line to the log: as which release the program behaves, and whether the user wants that
// or the control plane's definitions show it.
void LogRelease(Release release, bool wanted);
// Sets the gauge karmada_emulated_release_info of this release to 1.
void ShowRelease(Release release, metrics::Registry& registry);

}  // namespace config

#endif  // CONFIG_SERVED_SERVED_RELEASE_H_
