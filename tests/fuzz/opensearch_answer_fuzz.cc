// Whatever OpenSearch answers to searches and writes, reading the answer ends, with results or an
// error. The first byte of the input says what the HTTP code is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "base/clock.h"
#include "base/json.h"
#include "search/opensearch/bulk.h"
#include "search/opensearch/opensearch_client.h"
#include "search/opensearch/search_query.h"
#include "search/opensearch/slice_comparison.h"
#include "tests/fuzz/scripted_transport.h"

namespace {

std::unique_ptr<search::OpenSearchClient> ClientOf(int code, const std::string& text) {
  return search::OpenSearchClient::Over(std::make_shared<tests::ScriptedTransport>(code, text),
                                        base::RealClock());
}

void ReadBulk(const json::Value& answer) {
  for (const size_t writes : {size_t{0}, size_t{1}, size_t{2}, answer["items"].size()}) {
    const auto results = search::ReadBulkAnswer(answer, writes);
    if (!results.ok()) continue;
    if (results->size() != writes) std::abort();
    for (const search::WriteResult& result : *results) {
      if (result.outcome == search::WriteOutcome::kDone && !result.reason.empty()) std::abort();
    }
  }
}

void ReadSlice(int code, const std::string& text) {
  for (const int64_t page : {1, 2}) {
    const auto client = ClientOf(code, text);
    const auto stored = search::ReadStored(*client, "index", "member1", page, {});
    if (!stored.ok()) continue;
    const search::SliceSnapshot snapshot;
    const auto difference = search::CompareSlice(snapshot, *stored, 0);
    if (difference.to_delete.size() > stored->size()) std::abort();
  }
}

void Search(int code, const std::string& text) {
  for (const char* token : {"", "not one"}) {
    for (const int64_t limit : {0, 1}) {
      const auto client = ClientOf(code, text);
      const auto page = search::SearchDocuments(
          {client.get()}, "karmada-search",
          {.kind = {"", "v1", "Pod"}, .limit = limit, .continue_token = token}, {});
      if (!page.ok()) continue;
      if (limit > 0 && static_cast<int64_t>(page->items.size()) > limit) std::abort();
    }
  }
}

// The text as a client's token.
void Continue(const std::string& text) {
  const auto client = ClientOf(404, "");
  (void)search::SearchDocuments(
      {client.get()}, "karmada-search",
      {.kind = {"", "v1", "Pod"}, .limit = 1, .continue_token = absl::WebSafeBase64Escape(text)},
      {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr int kCodes[] = {200, 201, 400, 404, 413, 429, 500, 503};
  const int code = kCodes[data[0] % std::size(kCodes)];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto answer = ClientOf(code, text)->Send({.path = "/"}, {});
  if (answer.ok()) {
    if (search::StatusOf(*answer).ok() != (code < 300)) std::abort();
    ReadBulk(answer->body);
  }
  ReadSlice(code, text);
  Search(code, text);
  Continue(text);
  return 0;
}
