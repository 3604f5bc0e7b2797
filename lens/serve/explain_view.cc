#include <vector>

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
  return json::Value::Object({{"reasons", std::move(reasons)}});
}

}  // namespace lens::serve
