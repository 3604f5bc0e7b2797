// Remembers which servers do not permit that uid and extra of a caller are passed on. Private to
// search/proxy/.
//
// The ClusterRole that upstream's unified-auth-controller makes in members permits to impersonate
// users, groups and service accounts, not uids and extra. A member with that role refuses the whole
// identity; the request is then sent again with name and groups, as upstream sends all. The memory
// only saves the first of the two: losing it costs one request. It is kept for each user, because a
// role can permit some values and not others.
#ifndef SEARCH_PROXY_INTERNAL_IDENTITY_MEMORY_H_
#define SEARCH_PROXY_INTERNAL_IDENTITY_MEMORY_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/aggregation/user_info.h"
#include "search/proxy/internal/forwarded_headers.h"

namespace search {

// Returns whether the body of a 403, a Status in JSON or protobuf, says that a uid or extra must
// not be impersonated.
bool RefusesWholeIdentity(absl::string_view body);

// Thread-safe.
class IdentityMemory {
 public:
  // A server whose role has been repaired gets the whole identity again after this time.
  static constexpr absl::Duration kTerm = absl::Minutes(5);

  // REQUIRES: `clock` outlives the object.
  explicit IdentityMemory(const base::Clock& clock) : clock_(clock) {}

  // How many refusals are remembered.
  static constexpr size_t kMost = 10'000;

  Identity For(const std::string& server, const kube::aggregation::UserInfo& user) const;
  void NoteRefusal(const std::string& server, const kube::aggregation::UserInfo& user);

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  // By the digest of server and user.
  std::map<std::string, base::SteadyTime> refused_until_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_IDENTITY_MEMORY_H_
