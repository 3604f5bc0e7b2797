#include "search/opensearch/bulk_writer.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace search {
namespace {

constexpr char kRetryAfterPayload[] = "type.search/retry-after";

// The request is at fault, not the moment.
bool IsAboutContents(int code) {
  return code >= 400 && code < 500 && code != 401 && code != 403 && code != 404 && code != 408 &&
         code != 429;
}

absl::StatusOr<std::vector<WriteResult>> SendHalves(OpenSearchClient& client,
                                                    absl::Span<const BulkWrite> writes,
                                                    absl::Duration timeout,
                                                    const base::StopToken& stop) {
  const size_t half = writes.size() / 2;
  ASSIGN_OR_RETURN(std::vector<WriteResult> results,
                   SendWrites(client, writes.subspan(0, half), timeout, stop));
  ASSIGN_OR_RETURN(const std::vector<WriteResult> rest,
                   SendWrites(client, writes.subspan(half), timeout, stop));
  results.insert(results.end(), rest.begin(), rest.end());
  return results;
}

}  // namespace

absl::StatusOr<std::vector<WriteResult>> SendWrites(OpenSearchClient& client,
                                                    absl::Span<const BulkWrite> writes,
                                                    absl::Duration timeout,
                                                    const base::StopToken& stop) {
  if (writes.empty()) return std::vector<WriteResult>();
  BulkRequest request;
  for (const BulkWrite& write : writes) request.Add(write);
  ASSIGN_OR_RETURN(const OpenSearchAnswer answer,
                   client.Send({.method = "POST",
                                .path = BulkRequest::kPath,
                                .content_type = BulkRequest::kContentType,
                                .body = request.body(),
                                .timeout = timeout},
                               stop));
  if (IsAboutContents(answer.code)) {
    if (writes.size() > 1) return SendHalves(client, writes, timeout, stop);
    return std::vector<WriteResult>{
        {WriteOutcome::kRefused, std::string(StatusOf(answer).message())}};
  }
  absl::Status status = StatusOf(answer);
  if (!status.ok()) {
    // As a view, because clang and the library mangle Cord's constructor for std::string
    // differently.
    const std::string seconds = absl::StrCat(absl::ToInt64Seconds(answer.retry_after));
    status.SetPayload(kRetryAfterPayload, absl::Cord(absl::string_view(seconds)));
    return status;
  }
  return ReadBulkAnswer(answer.body, writes.size());
}

absl::Duration RetryAfterOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kRetryAfterPayload);
  int64_t seconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &seconds)) {
    return absl::ZeroDuration();
  }
  return absl::Seconds(seconds);
}

}  // namespace search
