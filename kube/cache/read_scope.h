// Checks that a loop reads from a cluster's cache only the kinds that it has declared.
//
// A loop that reads a kind for which only another loop has started an informer works only while
// that loop is switched on, and before the informer has synced it would regard missing objects as
// absent. So a controller puts a scope around each reconcile, which fails when an undeclared kind
// was read (ControllerBuilder::Reads).
//
//   ReadScope scope(client, declared);
//   ... client.Find(kPods, key) ...
//   RETURN_IF_ERROR(scope.status());
#ifndef KUBE_CACHE_READ_SCOPE_H_
#define KUBE_CACHE_READ_SCOPE_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"

namespace kube {

class ClusterClient;

// Covers the reads of one client by the thread that created the scope, and by those that have
// joined it, while it exists. The scopes of a thread end in the reverse order of their creation.
class ReadScope {
 public:
  // REQUIRES: `client` and `declared` outlive the scope.
  ReadScope(const ClusterClient& client, const std::vector<const Informer*>& declared);
  ~ReadScope();
  ReadScope(const ReadScope&) = delete;

  // While it exists, reads of the thread count for no scope. A write calls the handlers of other
  // loops on the thread of the loop that wrote; what they read is not that loop's.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;

   private:
    ReadScope* const held_;
  };

  // Returns the scope of this thread, or nullptr.
  static ReadScope* Current();
  // While it exists, reads of the thread count for `scope`, which belongs to another thread that
  // waits for this one. With nullptr they count for no scope.
  class Join {
   public:
    explicit Join(ReadScope* scope);
    ~Join();
    Join(const Join&) = delete;

   private:
    ReadScope* const held_;
  };

  // The error is kInternal and names the first kind that was read without being declared.
  absl::Status status() const;

 private:
  friend class ClusterClient;
  // Records a read; `informer` is null when the kind has none. Does nothing on a thread without a
  // scope.
  static void Note(const ClusterClient& client, const Informer* informer, const Resource& resource);

  const ClusterClient& client_;
  const std::vector<const Informer*>& declared_;
  ReadScope* const outer_;
  mutable absl::Mutex mu_;
  std::string undeclared_ ABSL_GUARDED_BY(mu_);
};

}  // namespace kube

#endif  // KUBE_CACHE_READ_SCOPE_H_
