// --authorize-cached-reads: whether a user may read what this program has of the members. Private
// to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_READ_RIGHTS_H_
#define SEARCH_PROXY_INTERNAL_READ_RIGHTS_H_

#include <functional>
#include <memory>
#include <string>

#include "base/http_server.h"
#include "kube/aggregation/api_handler.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/refusals.h"
#include "kube/aggregation/work_pool.h"

namespace search {

using ReadRequestPtr = std::shared_ptr<kube::aggregation::ApiRequest>;
using ResponderPtr = std::shared_ptr<base::HttpResponder>;

// Calls `then` if the user may do in the control plane what `request.info` says, else answers 403.
// Selectors that are longer than may be are a 400 before anything of them is kept.
// Without an authorizer everybody may. `then` may run on a thread of the reviews: it must not
// block. An exception of it becomes a 500.
void WithReadRights(kube::aggregation::Authorizer* authorizer,
                    kube::aggregation::ApiRequest request, const ResponderPtr& responder,
                    std::function<void(const ReadRequestPtr&)> then);

// Runs `work` of this owner on a thread of the pool: 429, which `refusals` counts and words, if too
// much is waiting. What it returns or throws is answered as an error.
void RunRead(kube::aggregation::WorkPool& pool, const kube::aggregation::Refusals& refusals,
             const std::string& owner, const ResponderPtr& responder,
             std::function<absl::Status()> work);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_READ_RIGHTS_H_
