#include "search/cache/list_answer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/search_keys.h"
#include "base/json.h"
#include "search/cache/internal/continue_token.h"

namespace search {

std::string ReasonForCallers(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return "the cluster has not answered in time";
    case absl::StatusCode::kUnauthenticated:
      return "the cluster does not accept the credentials of this server";
    case absl::StatusCode::kPermissionDenied:
      return "the cluster does not permit this server to read the resource";
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:
      return std::string(error.message());
    default:
      return "the cluster cannot be reached, or its answers cannot be used; the conditions of the "
             "registries say why";
  }
}

std::string AmbiguousObjects(std::vector<std::string> clusters) {
  std::sort(clusters.begin(), clusters.end());
  return absl::StrCat("ambiguous objects in clusters [", absl::StrJoin(clusters, ", "),
                      "]; choose one with the query parameter \"", api::kClusterParameter,
                      "\", the header ", api::kClusterHeader,
                      ", or a server URL that ends in proxying/<cluster>/proxy");
}

std::string VersionOfPage(absl::string_view continue_token) {
  return internal::ContinueToken::Parse(continue_token).version;
}

std::string OriginAnnotation(absl::string_view cluster) {
  return absl::StrCat(json::Write(api::kCachedFromClusterAnnotation), ":", json::Write(cluster));
}

void CachedObject::AppendTo(std::string& out) const {
  encoded().AppendTo(out, {.annotation = OriginAnnotation(cluster), .version = version});
}

size_t ListAnswer::size() const {
  size_t size = 0;
  for (const Part& part : parts) size += part.objects->size();
  return size;
}

ListText::ListText(ListAnswer answer, kube::Gvk item)
    : answer_(std::move(answer)), item_(std::move(item)) {}

bool ListText::Append(std::string& out, size_t bytes) {
  if (state_ == State::kEnd) return false;
  const size_t enough = out.size() + bytes;
  if (state_ == State::kHead) {
    AppendHead(out);
    state_ = State::kItems;
  }
  while (out.size() < enough) {
    if (AppendItem(out)) continue;
    out += "]}\n";
    state_ = State::kEnd;
    break;
  }
  return true;
}

void ListText::AppendHead(std::string& out) const {
  absl::StrAppend(&out, R"({"kind":")", item_.kind, R"(List","apiVersion":")", item_.ApiVersion(),
                  R"(","metadata":{"resourceVersion":)", json::Write(answer_.version),
                  R"(,"continue":)", json::Write(answer_.continue_token));
  if (answer_.remaining.has_value() && *answer_.remaining > 0) {
    absl::StrAppend(&out, R"(,"remainingItemCount":)", *answer_.remaining);
  }
  absl::StrAppend(&out, R"(},"items":[)");
}

bool ListText::AppendItem(std::string& out) {
  while (part_ < answer_.parts.size() && index_ == answer_.parts[part_].objects->size()) {
    ++part_;
    index_ = 0;
  }
  if (part_ == answer_.parts.size()) return false;
  const ListAnswer::Part& part = answer_.parts[part_];
  // Made once for each cluster, not for each object.
  if (index_ == 0) annotation_ = OriginAnnotation(part.cluster);
  if (!std::exchange(first_, false)) out += ',';
  kube::Encoded(*(*part.objects)[index_++]).AppendTo(out, {.annotation = annotation_});
  return true;
}

}  // namespace search
