#include "search/proxy/internal/completeness.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/search_keys.h"
#include "kube/aggregation/request_fields.h"
#include "kube/server/api_errors.h"
#include "kube/server/negotiation.h"
#include "search/proxy/internal/unread_members.h"
#include "search/proxy/read_request.h"

namespace search {

absl::StatusOr<std::optional<bool>> CompleteDemanded(const base::HttpRequest& request,
                                                     bool only_header) {
  std::vector<std::string> values;
  for (const auto& [name, value] : request.query) {
    if (!only_header && name == api::kCompleteParameter) values.push_back(value);
  }
  const std::string header = absl::AsciiStrToLower(api::kCompleteHeader);
  for (const absl::string_view value : kube::aggregation::ValuesOf(request, header)) {
    values.emplace_back(value);
  }
  std::optional<bool> demanded;
  for (const std::string& value : values) {
    const bool yes = value == "true" || value == "1";
    const bool is_known = yes || value == "false" || value == "0";
    if (!is_known || (demanded.has_value() && *demanded != yes)) {
      return kube::server::BadRequest(
          absl::StrCat("the query parameter \"", api::kCompleteParameter, "\" and the header ",
                       api::kCompleteHeader, " take \"true\" or \"false\", and must say the same"));
    }
    demanded = yes;
  }
  return demanded;
}

base::HttpResponse IncompleteAnswer(const std::vector<MissingCluster>& missing) {
  base::HttpResponse response = kube::server::ErrorAnswer(LackError(
      absl::StrCat("a complete answer was demanded, and there is none", MissingText(missing)),
      missing));
  AddWarnings(missing, response);
  return response;
}

}  // namespace search
