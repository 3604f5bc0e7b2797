// Goes through a long list page by page, for who need not have all of it at the same time.
#ifndef KUBE_CLIENT_LIST_PAGES_H_
#define KUBE_CLIENT_LIST_PAGES_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace kube {

// Takes a page. `begins`: it is the first one of the list, which may have started over; pages that
// came before do not count any more.
using TakePage = absl::FunctionRef<void(ListPage page, bool begins)>;

// Calls `take` with each page, in order. Starting over, pages that are too large and lists that do
// not end are treated as Client::ListAll says.
absl::Status ForEachPage(Client& client, const Resource& r, absl::string_view ns,
                         ListOptions options, const base::StopToken& stop, TakePage take);

}  // namespace kube

#endif  // KUBE_CLIENT_LIST_PAGES_H_
