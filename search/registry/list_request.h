// Lists and watches as clients ask for them: selectors, pages, resourceVersions.
#ifndef SEARCH_REGISTRY_LIST_REQUEST_H_
#define SEARCH_REGISTRY_LIST_REQUEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"
#include "kube/server/field_labels.h"
#include "kube/server/list_options.h"

namespace search {

// The registries that a list, watch or deletecollection selects.
struct RegistrySelection {
  kube::LabelSelector labels;
  kube::server::FieldMatcher fields;  // On metadata.name and metadata.namespace.
  std::string name;                   // From the path; "" selects any.

  // 400 for a selector that names another field.
  static absl::StatusOr<RegistrySelection> Of(const kube::server::ListOptions& options,
                                              const std::string& name);
  bool Matches(const kube::Object& registry) const;
  bool MatchesEverything() const;
};

struct RegistryListRequest {
  int64_t limit = 0;
  std::string after;     // From the continue token.
  int64_t revision = 0;  // From the continue token, or of an exact list; 0: the newest state.
  bool continued = false;
  int64_t not_older_than = 0;
  bool from_memory = false;  // resourceVersion=0: any state will do.

  // 400 for a malformed version or token.
  static absl::StatusOr<RegistryListRequest> Of(const kube::server::ListOptions& options);
};

// The token has the form of apiserver's, so that other servers on the same etcd understand it.
std::string RegistryContinueToken(int64_t revision, absl::string_view last_name);

struct RegistryWatchRequest {
  bool initial = true;    // The present objects come first.
  int64_t since = 0;      // Otherwise the changes after this version,
  bool from_now = false;  // or from now on.
  bool bookmarks = false;
  bool mark_initial_end = false;
  absl::Duration timeout;

  // 400 for a malformed version. Without timeoutSeconds the watch lasts `min_timeout` at least, and
  // twice as long at most.
  static absl::StatusOr<RegistryWatchRequest> Of(const kube::server::ListOptions& options,
                                                 absl::Duration min_timeout);
};

}  // namespace search

#endif  // SEARCH_REGISTRY_LIST_REQUEST_H_
