#include "kube/client/document.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/api_error.h"
#include "kube/client/url.h"

namespace kube {
namespace {

// PodMetrics of ten thousand pods take four megabytes.
constexpr size_t kLongestDocument = 16 << 20;

absl::StatusOr<std::string> TextOf(const DocumentPath& path) {
  std::string text;
  for (const std::string& segment : path.segments) {
    if (!IsPathSegment(segment)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", segment, "\" cannot be a part of a path"));
    }
    absl::StrAppend(&text, "/", EscapeSegment(segment));
  }
  Query query;
  for (const auto& [name, value] : path.query) query.Add(name, value);
  return absl::StrCat(text, query.text());
}

}  // namespace

absl::StatusOr<json::Value> GetDocument(Client& client, const DocumentPath& path,
                                        absl::Duration timeout, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const std::string text, TextOf(path));
  const std::string call = absl::StrCat("get ", text);
  ASSIGN_OR_RETURN(
      const HttpResponse answer,
      client.GetRaw(
          HttpRequest{.path = text, .timeout = timeout, .max_answer_bytes = kLongestDocument},
          stop));
  if (answer.code != 200) return ErrorOfResponse(answer, call);
  absl::StatusOr<json::Value> body = json::Parse(answer.body);
  if (!body.ok()) return base::Annotate(body.status(), call);
  return body;
}

}  // namespace kube
