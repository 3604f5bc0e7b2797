// Where a list over many clusters goes on.
#ifndef SEARCH_CACHE_INTERNAL_CONTINUE_TOKEN_H_
#define SEARCH_CACHE_INTERNAL_CONTINUE_TOKEN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace search::internal {

// The token of clients, as upstream writes it (store.multiClusterContinue): base64url without
// padding of {"rv":"<composite>","cluster":"member2","continue":"<token of the member>"}.
struct ContinueToken {
  std::string version;    // A CompositeVersion: every page shows the state at these.
  std::string cluster;    // Where the page begins; clusters before it are done.
  std::string of_member;  // Where it begins inside that cluster; "": at its beginning.

  // A text that cannot be decoded gives an empty token, as upstream takes it.
  static ContinueToken Parse(absl::string_view text);
  bool empty() const { return cluster.empty(); }
  // "" without a cluster.
  std::string ToString() const;
};

// The token of an API server (storage.EncodeContinue), in its own format, so that pages may be
// served alternately by upstream's program, which asks members, and by this one.
struct MemberToken {
  int64_t version = -1;
  // The first key that may follow, without the prefix that all keys of the list share:
  // "namespace/name\0", or "name\0" in a list of one namespace or of a resource without namespaces.
  std::string start;

  static std::optional<MemberToken> Parse(absl::string_view text);
  std::string ToString() const;
};

}  // namespace search::internal

#endif  // SEARCH_CACHE_INTERNAL_CONTINUE_TOKEN_H_
