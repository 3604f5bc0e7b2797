// An OpenSearch for tests: one in memory, that knows what the mirror asks for, or with
// $OPENSEARCH_URL a front of a real one. Faults are put in front of both.
#ifndef TESTS_SEARCH_OPENSEARCH_FAKE_OPENSEARCH_H_
#define TESTS_SEARCH_OPENSEARCH_FAKE_OPENSEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/http/transport.h"
#include "tests/search/opensearch/memory_opensearch.h"

namespace tests {

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

}  // namespace tests

#endif  // TESTS_SEARCH_OPENSEARCH_FAKE_OPENSEARCH_H_
