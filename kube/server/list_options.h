// The query parameters of list, watch and deletecollection (metav1.ListOptions): decoded as the API
// server decodes them, with its defaults, and refused with its messages.
#ifndef KUBE_SERVER_LIST_OPTIONS_H_
#define KUBE_SERVER_LIST_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/http_server.h"
#include "kube/meta/selector.h"

namespace kube::server {

struct ListOptions {
  // Whether resourceVersionMatch is "NotOlderThan", "Exact" or absent.
  enum class Match { kUnset, kNotOlderThan, kExact };

  kube::LabelSelector labels;
  kube::FieldSelector fields;  // Not yet checked against the labels of a kind: see FieldLabels.
  bool watch = false;
  bool allow_watch_bookmarks = false;
  std::string resource_version;  // As sent: "" is unset, "0" any.
  Match resource_version_match = Match::kUnset;
  std::string continue_token;
  int64_t limit = 0;                      // 0 or less: no limit.
  std::optional<absl::Duration> timeout;  // timeoutSeconds.
  // sendInitialEvents, by the client or by default.
  std::optional<bool> send_initial_events;
  // Whether send_initial_events was not sent, but follows from a resourceVersion that is "" or "0".
  bool initial_events_by_default = false;

  // 400 for parameters that cannot be decoded, 422 for those that do not fit together. `watch`
  // overrides the parameter, for paths such as /api/v1/watch/pods. `watch_list` is the feature of
  // that name: without it sendInitialEvents is refused, and there is no default.
  struct Rules {
    bool watch = false;
    bool watch_list = true;
  };
  static absl::StatusOr<ListOptions> Read(const base::HttpRequest& request, const Rules& rules);
  static absl::StatusOr<ListOptions> Read(const base::HttpRequest& request) {
    return Read(request, Rules());
  }
};

}  // namespace kube::server

#endif  // KUBE_SERVER_LIST_OPTIONS_H_
