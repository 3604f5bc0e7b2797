// Reads that the global proxy answers from the cache of all member clusters.
#ifndef SEARCH_PROXY_CACHED_READS_H_
#define SEARCH_PROXY_CACHED_READS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/http_server.h"
#include "kube/aggregation/api_handler.h"
#include "kube/meta/names.h"
#include "search/cache/list_answer.h"

namespace search {

// Which members have an object.
struct Holders {
  std::vector<std::string> clusters;  // Those in whose caches it is.
  // Those that may have it, too: their objects have not been read, or, of a stale one, may have
  // been read too long ago.
  std::vector<MissingCluster> unread;
  size_t asked = 0;  // How many clusters the scope has the resource of.
};

// What a caller asks of an answer besides what the Kubernetes API has parameters for.
struct ReadTerms {
  std::string cluster;  // Limits the answer to one member; "": all.
  // An answer that would lack a member's objects, or show them older than demanded, is refused with
  // a 503. For a watch this concerns its beginning only.
  bool complete = false;
};

// Thread-safe.
class CachedReads {
 public:
  virtual ~CachedReads() = default;
  // Returns the clusters that the registries select the resource in.
  virtual std::vector<std::string> ClustersOf(const kube::Gvr& gvr) = 0;
  virtual Holders HoldersOf(const kube::Gvr& gvr, const kube::ObjectKey& key) = 0;
  // Answers a get, list or watch, later and on another thread: it does not block. `request.http`
  // and `request.info` are those of the inner request.
  virtual void Answer(kube::aggregation::ApiRequest request, const ReadTerms& terms,
                      std::shared_ptr<base::HttpResponder> responder) = 0;
};

}  // namespace search

#endif  // SEARCH_PROXY_CACHED_READS_H_
