// Holds a loop to the kinds that it has declared to read from a cluster's cache.
//
// A loop that reads a kind for which only another loop has started an informer works as long as
// that one is switched on, and before the informer has synced it takes what is missing for absent.
// So a controller puts a scope around each reconcile and fails it when something was read that was
// not declared (ControllerBuilder::Reads).
//
//   ReadScope scope(client, declared);
//   ... client.Find(kPods, key) ...
//   RETURN_IF_ERROR(scope.status());
#ifndef KUBE_CACHE_READ_SCOPE_H_
#define KUBE_CACHE_READ_SCOPE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"

namespace kube {

class ClusterClient;

// Concerns the reads of one client by the thread that made the scope, as long as it lives. Scopes
// of a thread end in the reverse order of their making.
class ReadScope {
 public:
  // REQUIRES: both outlive the scope.
  ReadScope(const ClusterClient& client, const std::vector<const Informer*>& declared);
  ~ReadScope();
  ReadScope(const ReadScope&) = delete;

  // kInternal names the first kind that was read and not declared.
  absl::Status status() const;

 private:
  friend class ClusterClient;
  // `informer` is null when nobody has asked for one. Does nothing on a thread without a scope.
  static void Note(const ClusterClient& client, const Informer* informer, const Resource& resource);

  const ClusterClient& client_;
  const std::vector<const Informer*>& declared_;
  ReadScope* const outer_;
  std::string undeclared_;
};

}  // namespace kube

#endif  // KUBE_CACHE_READ_SCOPE_H_
