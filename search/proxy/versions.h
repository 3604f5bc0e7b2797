// Composite resourceVersions, as far as writes are concerned.
#ifndef SEARCH_PROXY_VERSIONS_H_
#define SEARCH_PROXY_VERSIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace search {

// Versions by the names of members.
using MemberVersions = std::map<std::string, std::string>;
// Returns the entries of a composite resourceVersion; nullopt for a text that is none, such as the
// version of a single server.
using DecodeVersions = std::function<std::optional<MemberVersions>(absl::string_view version)>;

}  // namespace search

#endif  // SEARCH_PROXY_VERSIONS_H_
