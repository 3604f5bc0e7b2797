#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lens/explain/page.h"
#include "lens/explain/reasons.h"
#include "lens/serve/views.h"

namespace lens::serve {

// What a reason of an event or a condition means, by the page of events.
absl::StatusOr<json::Value> ExplainView(const Asked& asked) {
  ASSIGN_OR_RETURN(const std::string text, asked.parameters.Needed("text"));
  static const auto& all =
      *new std::vector<explain::Reason>(explain::ReasonsOf(explain::EventsPage()));
  json::Value reasons = json::Value::Array();
  for (const explain::Reason& reason : explain::Find(all, text)) {
    reasons.Append(explain::JsonOf(reason));
  }
  json::Value answer = json::Value::Object();
  if (reasons.empty()) {
    answer.Set("message", absl::StrCat("no reason and no condition is called ", text,
                                       explain::Suggestion(all, text)));
  }
  answer.Set("reasons", std::move(reasons));
  return answer;
}

}  // namespace lens::serve
