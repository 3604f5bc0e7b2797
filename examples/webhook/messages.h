// Reads and writes the messages of the two webhook APIs, and calls the function that answers each
// operation.
#ifndef EXAMPLES_WEBHOOK_MESSAGES_H_
#define EXAMPLES_WEBHOOK_MESSAGES_H_

#include "base/http_server.h"

namespace example {

// Answers a request of either API; the message's kind says which one:
//  - ResourceInterpreterContext: a failure is an answer with `successful: false` and a status;
//  - ExploreReview: it has no words for a failure, so that is an HTTP error.
// The answer carries apiVersion, kind and uid of the question.
base::HttpResponse AnswerTo(const base::HttpRequest& request);

}  // namespace example

#endif  // EXAMPLES_WEBHOOK_MESSAGES_H_
