// Of which release of Karmada a control plane is, as its definitions show.
#ifndef CONFIG_SERVED_SERVED_RELEASE_H_
#define CONFIG_SERVED_SERVED_RELEASE_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "config/release.h"
#include "kube/client/client.h"

namespace config {

// Returns the release that the schema of ResourceBinding shows (config/binding_schema.h) in the
// OpenAPI document (version 3) of work.karmada.io/v1alpha2; the oldest one without that schema.
Release ReleaseOf(const json::Value& document);

// Asks one control plane, again and again. Not thread-safe.
class ServedRelease {
 public:
  // REQUIRES: `client` outlives the object.
  explicit ServedRelease(kube::Client& client) : client_(client) {}

  // Returns the release, with one GET, which the server answers with 304 while nothing has changed.
  // kPermissionDenied, kUnauthenticated and kNotFound say that the server does not show its OpenAPI
  // document, other codes that it could not be asked.
  absl::StatusOr<Release> Ask(const base::StopToken& stop);

 private:
  kube::Client& client_;
  std::string etag_;
  std::optional<Release> known_;
};

struct ReleaseWait {
  absl::Duration patience;  // How long a server that cannot be asked is asked again.
  // Called once, before the first wait; an error ends it. May be empty.
  std::function<absl::Status()> on_wait;
};

// Returns the release as which a program begins: `wanted` if the user has given one, else the one
// that is served. It asks again, every two seconds, while the server cannot be asked, and returns
// the last error when the patience is over; a server that shows no OpenAPI document is taken to be
// of the oldest release, with a warning in the log. kCancelled after a stop.
absl::StatusOr<Release> AwaitRelease(std::optional<Release> wanted, kube::Client& client,
                                     const ReleaseWait& wait, const base::StopToken& stop);

}  // namespace config

#endif  // CONFIG_SERVED_SERVED_RELEASE_H_
