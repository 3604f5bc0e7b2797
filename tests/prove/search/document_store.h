// An OpenSearch in this process, which karmada-search mirrors the objects of members into.
#ifndef TESTS_PROVE_SEARCH_DOCUMENT_STORE_H_
#define TESTS_PROVE_SEARCH_DOCUMENT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/json.h"
#include "tests/prove/search/history.h"
#include "tests/search/opensearch/memory_opensearch.h"

namespace prove {

// Thread-safe.
class DocumentStore {
 public:
  static absl::StatusOr<std::unique_ptr<DocumentStore>> Start();
  ~DocumentStore();
  DocumentStore(const DocumentStore&) = delete;

  std::string url() const;
  // The documents of ConfigMaps.
  std::vector<json::Value> Documents() const;

 private:
  DocumentStore() = default;

  mutable absl::Mutex mu_;
  tests::MemoryOpenSearch memory_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<base::HttpServer> server_;
};

// Returns a line for each document that is not one of what the members have at that moment, and for
// each object of theirs without one.
std::vector<std::string> JudgeDocuments(const History& history, int64_t moment,
                                        const std::vector<json::Value>& documents);

}  // namespace prove

#endif  // TESTS_PROVE_SEARCH_DOCUMENT_STORE_H_
