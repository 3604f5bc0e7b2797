// The watches that the control plane answers at the moment. Private to search/proxy/.
//
// A watch stays where it was opened. When a ResourceRegistry begins to select its resource, it
// would go on to show the control plane's objects for as long as the client keeps it; so it is
// ended then, and the client's next watch is answered by the cache.
#ifndef SEARCH_PROXY_INTERNAL_CONTROL_PLANE_WATCHES_H_
#define SEARCH_PROXY_INTERNAL_CONTROL_PLANE_WATCHES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "kube/server/request_info.h"

namespace search {

// Thread-safe.
class ControlPlaneWatches : public std::enable_shared_from_this<ControlPlaneWatches> {
 public:
  // A watch in the list, for as long as the object exists.
  class Entry {
   public:
    ~Entry() { owner_->Remove(id_); }
    // Requested when `outer` is, or when the watch has to end.
    base::StopToken stop() const { return stop_.get_token(); }

   private:
    friend class ControlPlaneWatches;
    Entry(std::shared_ptr<ControlPlaneWatches> owner, const base::StopToken& outer)
        : owner_(std::move(owner)),
          on_outer_(outer, [stop = stop_]() mutable { stop.request_stop(); }) {}

    const std::shared_ptr<ControlPlaneWatches> owner_;
    uint64_t id_ = 0;
    base::StopSource stop_;
    const base::StopCallback<std::function<void()>> on_outer_;
  };

  // A caller adds the watch before it asks whether its resource is registered: so each change of
  // the registries is either known to the caller or finds the watch here.
  std::shared_ptr<const Entry> Add(const kube::server::RequestInfo& info,
                                   const base::StopToken& outer);
  // Requests a stop of the watches for which the function returns true.
  void EndThose(const std::function<bool(const kube::server::RequestInfo& info)>& has_moved);

 private:
  struct Watch {
    kube::server::RequestInfo info;
    base::StopSource stop;
  };
  void Remove(uint64_t id);

  absl::Mutex mu_;
  uint64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Watch> watches_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_CONTROL_PLANE_WATCHES_H_
