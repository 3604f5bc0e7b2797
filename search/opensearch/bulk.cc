#include "search/opensearch/bulk.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/cut_text.h"

namespace search {
namespace {

constexpr size_t kMaxReason = 500;

std::string ReasonOf(const json::Value& error) {
  std::string text = absl::StrCat(error["type"].AsString(), ": ", error["reason"].AsString());
  const std::string cause = error.Get({"caused_by", "reason"}).ToString();
  if (!cause.empty() && !absl::StrContains(text, cause)) absl::StrAppend(&text, ": ", cause);
  return base::CutText(text, kMaxReason);
}

// OpenSearch has no field for it: "version conflict, current version [7] is higher or equal to
// ...".
int64_t CurrentVersionOf(const json::Value& error) {
  constexpr absl::string_view kBefore = "current version [";
  const std::string reason = error["reason"].ToString();
  const size_t begin = reason.find(std::string(kBefore));
  if (begin == std::string::npos) return -1;
  const absl::string_view rest = absl::string_view(reason).substr(begin + kBefore.size());
  int64_t version = -1;
  return absl::SimpleAtoi(rest.substr(0, rest.find(']')), &version) ? version : -1;
}

// A 404 of a deletion has no error: the document was not there. With one, the index is missing and
// must not be made by a write; the mirror makes it with the next reconciliation.
WriteOutcome OutcomeOf(int64_t status, const json::Value& error) {
  if (status == 409) return WriteOutcome::kConflict;
  if (error.is_null() && ((status >= 200 && status < 300) || status == 404)) {
    return WriteOutcome::kDone;
  }
  const bool may_pass = status == 401 || status == 403 || status == 404 || status == 429 ||
                        status >= 500 || status < 400;
  return may_pass ? WriteOutcome::kRetry : WriteOutcome::kRefused;
}

}  // namespace

void BulkRequest::Add(const BulkWrite& write) {
  const bool deletion = write.document.empty();
  const json::Value action = json::Value::Object(
      {{"_index", write.index},
       {"_id", write.id},
       {"version", write.version},
       {"version_type", write.also_equal || deletion ? "external_gte" : "external"}});
  absl::StrAppend(&body_, deletion ? "{\"delete\":" : "{\"index\":", json::Write(action), "}\n");
  if (!deletion) absl::StrAppend(&body_, write.document, "\n");
  ++size_;
}

absl::StatusOr<std::vector<WriteResult>> ReadBulkAnswer(const json::Value& answer, size_t writes) {
  const absl::Span<const json::Value> items = answer["items"].items();
  if (items.size() != writes) {
    return absl::UnavailableError(
        absl::StrCat("the answer to ", writes, " writes has results of ", items.size()));
  }
  std::vector<WriteResult> results;
  results.reserve(writes);
  for (const json::Value& item : items) {
    if (item.members().size() != 1 || !item.members()[0].value["status"].is_int()) {
      return absl::UnavailableError("a result in the answer has no status");
    }
    const json::Value& result = item.members()[0].value;
    const json::Value& error = result["error"];
    const int64_t status = result["status"].AsInt();
    results.push_back({.outcome = OutcomeOf(status, error),
                       .reason = error.is_null() ? "" : ReasonOf(error),
                       .overloaded = status == 429,
                       .current_version = CurrentVersionOf(error)});
  }
  return results;
}

}  // namespace search
