// What the answers of reads have in common, and how lists are sent. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_READ_ANSWERS_H_
#define SEARCH_PROXY_INTERNAL_READ_ANSWERS_H_

#include <vector>

#include "base/http_server.h"
#include "kube/aggregation/work_pool.h"
#include "kube/server/negotiation.h"
#include "search/cache/list_answer.h"
#include "search/proxy/read_request.h"

namespace search {

// Returns whether an answer of this form is made by copying text.
bool IsText(const kube::server::AnswerForm& form);

// Returns an answer with the head that all answers of a read have.
base::HttpResponse Head(const ReadRequest& read, const std::vector<MissingCluster>& missing);

// Sends a short list whole, so that it has a length, and the pieces of a long one as the client
// takes them. REQUIRES: `pool` outlives the answer.
void SendAnswer(const ReadRequest& read, ListAnswer answer,
                const std::vector<MissingCluster>& missing, kube::aggregation::WorkPool& pool,
                base::HttpResponder& responder);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_READ_ANSWERS_H_
