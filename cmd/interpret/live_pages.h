// Reads long lists of a live server page by page, so that no list is in memory as a whole.
#ifndef CMD_INTERPRET_LIVE_PAGES_H_
#define CMD_INTERPRET_LIVE_PAGES_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

// Calls `visit` for each object of the resource, in the order of namespaces and names; an empty
// `ns` stands for all namespaces. Each request has the client's deadline. If a page has expired
// because visiting the earlier ones took long, the list begins again and what was visited is left
// out. Ends with the first error, of a request or of `visit`.
absl::Status VisitAll(kube::Client& client, const kube::Resource& resource, absl::string_view ns,
                      const std::function<absl::Status(const kube::Object&)>& visit);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_LIVE_PAGES_H_
