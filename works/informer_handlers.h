// Adds handlers to the informers of members, to each informer once.
#ifndef WORKS_INFORMER_HANDLERS_H_
#define WORKS_INFORMER_HANDLERS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"

namespace works {

// Thread-safe. A member that is connected again has new informers, which get a handler of their
// own.
class InformerHandlers {
 public:
  // Adds what `make` returns, unless an earlier call has done so for this informer. When this
  // returns, whoever has added it, the handler has been told of what the informer held. Returns
  // whether it was this call. Must not be called in a handler of the informer.
  bool Add(const std::string& cluster, const std::shared_ptr<kube::Informer>& informer,
           const std::function<kube::EventHandler()>& make);

 private:
  struct Entry {
    std::weak_ptr<kube::Informer> informer;
    std::shared_ptr<absl::Notification> added;
  };
  absl::Mutex mu_;  // Not held while a handler is added.
  absl::flat_hash_map<std::pair<std::string, kube::Gvr>, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_INFORMER_HANDLERS_H_
