// An OpenSearch in memory, that knows what the mirror asks for; without an HTTP server.
#ifndef TESTS_SEARCH_OPENSEARCH_MEMORY_OPENSEARCH_H_
#define TESTS_SEARCH_OPENSEARCH_MEMORY_OPENSEARCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/random.h"

namespace tests {

// Documents of one OpenSearch, with external versions and the traces of deletions.
class MemoryOpenSearch {
 public:
  base::HttpResponse Answer(const base::HttpRequest& request);
  // The documents of an index.
  std::vector<json::Value> Documents(const std::string& index) const;
  // What a single write to a document is refused with; nullopt accepts it.
  std::function<std::optional<std::pair<int, std::string>>(absl::string_view id)> refuse;
  std::string distribution = "opensearch";
  std::string cluster_uuid = base::NewUuid();
  // How long a trace of a deletion refuses older writes; a minute in a real one (gc_deletes).
  absl::Duration keeps_deletions = absl::InfiniteDuration();

 private:
  struct Document {
    int64_t version = 0;
    json::Value source;  // Null: deleted.
    base::SteadyTime written = base::SteadyTime::InfinitePast();
  };
  using Index = std::map<std::string, Document>;

  json::Value Write(const json::Value& action, const std::string& source);
  base::HttpResponse Bulk(const std::string& body);
  base::HttpResponse Search(const std::string& pattern, const json::Value& body);
  base::HttpResponse Places(const std::string& pattern);
  base::HttpResponse Get(const std::string& index, const std::string& id);

  std::map<std::string, Index> indices_;
  json::Value template_;
};

// {"error":{"type":...,"reason":...},"status":code}
base::HttpResponse ErrorAnswer(int code, absl::string_view type, absl::string_view reason);

}  // namespace tests

#endif  // TESTS_SEARCH_OPENSEARCH_MEMORY_OPENSEARCH_H_
