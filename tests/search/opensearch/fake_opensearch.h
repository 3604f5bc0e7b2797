// An OpenSearch for tests: one in memory, that knows what the mirror asks for, or with
// $OPENSEARCH_URL a front of a real one. Faults are put in front of both.
#ifndef TESTS_SEARCH_OPENSEARCH_FAKE_OPENSEARCH_H_
#define TESTS_SEARCH_OPENSEARCH_FAKE_OPENSEARCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/json.h"
#include "base/random.h"
#include "kube/http/transport.h"

namespace tests {

// Documents of one OpenSearch, with external versions and the traces of deletions.
class MemoryOpenSearch {
 public:
  base::HttpResponse Answer(const base::HttpRequest& request);
  // What a single write to a document is refused with; nullopt accepts it.
  std::function<std::optional<std::pair<int, std::string>>(absl::string_view id)> refuse;
  std::string distribution = "opensearch";
  std::string cluster_uuid = base::NewUuid();

 private:
  struct Document {
    int64_t version = 0;
    json::Value source;  // Null: deleted.
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

class TestOpenSearch {
 public:
  using Fault = std::function<std::optional<base::HttpResponse>(const base::HttpRequest&)>;

  TestOpenSearch();
  ~TestOpenSearch();
  TestOpenSearch(const TestOpenSearch&) = delete;

  static bool IsReal();
  std::string url() const;
  // A prefix for the indices of this test; those are deleted at its end.
  const std::string& prefix() const { return prefix_; }

  // Answers requests instead of OpenSearch where it returns something; nullptr ends that.
  void SetFault(Fault fault);
  // Cuts connections without an answer while it is set.
  void SetDown(bool down);
  // Changes the OpenSearch in memory, between two requests.
  void Change(const std::function<void(MemoryOpenSearch& memory)>& change);
  std::string cluster_uuid() const;
  // How many requests there were whose path contains the text.
  int Requests(absl::string_view part) const;
  // The requests' bodies, too.
  int64_t BytesReceived() const;

  // The document as stored ({_version, _source}), null if there is none.
  json::Value Document(const std::string& index, const std::string& id);
  // The number of documents of a cluster in an index, seen by a search.
  int64_t Count(const std::string& index, const std::string& cluster);
  // Any request, past all faults.
  base::HttpResponse Ask(const std::string& method, const std::string& target,
                         const std::string& body = "");

 private:
  void Handle(base::HttpRequest request, const std::shared_ptr<base::HttpResponder>& responder);
  base::HttpResponse Forward(const base::HttpRequest& request);

  const std::string prefix_;
  std::shared_ptr<kube::Transport> real_;
  mutable absl::Mutex mu_;
  MemoryOpenSearch memory_;  // Guarded by mu_ while requests are answered.
  Fault fault_ ABSL_GUARDED_BY(mu_);
  bool down_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::string> targets_ ABSL_GUARDED_BY(mu_);
  int64_t received_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<base::HttpServer> server_;
};

// {"error":{"type":...,"reason":...},"status":code}
base::HttpResponse ErrorAnswer(int code, absl::string_view type, absl::string_view reason);

}  // namespace tests

#endif  // TESTS_SEARCH_OPENSEARCH_FAKE_OPENSEARCH_H_
