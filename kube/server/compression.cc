#include "kube/server/compression.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/gzip.h"

namespace kube::server {
namespace {

// Returns whether a clause of Accept-Encoding such as "gzip;q=0.5" takes gzip.
bool TakesGzip(absl::string_view clause) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(clause, absl::MaxSplits(';', 1));
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), "gzip")) return false;
  absl::string_view q = absl::StripAsciiWhitespace(parts.second);
  double weight = 1;
  return !absl::ConsumePrefix(&q, "q=") || !absl::SimpleAtod(q, &weight) || weight > 0;
}

bool IsEncoded(const base::HttpResponse& answer) {
  return std::any_of(answer.headers.begin(), answer.headers.end(), [](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, "content-encoding");
  });
}

size_t LengthOfBody(const base::HttpResponse& answer) {
  size_t length = answer.body.size();
  for (const base::SharedBytes& part : answer.more_body) length += part->size();
  return length;
}

}  // namespace

bool AcceptsGzip(const base::HttpRequest& request) {
  for (absl::string_view clause : absl::StrSplit(request.Header("accept-encoding"), ',')) {
    if (TakesGzip(clause)) return true;
  }
  return false;
}

bool IsWorthCompressing(const base::HttpResponse& answer, size_t min_bytes) {
  return LengthOfBody(answer) > min_bytes && !IsEncoded(answer);
}

void AddGzipHeaders(base::HttpResponse& answer) {
  answer.headers.emplace_back("Content-Encoding", "gzip");
  answer.headers.emplace_back("Vary", "Accept-Encoding");
}

void Compress(base::HttpResponse& answer) {
  // Each part goes when it has been compressed, so that a long answer is not there twice.
  base::GzipStream gzip;
  std::string compressed;
  gzip.Write(std::exchange(answer.body, ""), compressed);
  for (base::SharedBytes& part : answer.more_body)
    gzip.Write(*std::exchange(part, nullptr), compressed);
  answer.more_body.clear();
  gzip.Finish(compressed);
  answer.body = std::move(compressed);
  AddGzipHeaders(answer);
}

void Compress(const base::HttpRequest& request, base::HttpResponse& answer) {
  if (IsWorthCompressing(answer) && AcceptsGzip(request)) Compress(answer);
}

}  // namespace kube::server
