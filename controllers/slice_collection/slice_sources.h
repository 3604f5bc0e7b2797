// The informers of EndpointSlices, and for one collector of ServiceExports, in the members that
// need them.
#ifndef CONTROLLERS_SLICE_COLLECTION_SLICE_SOURCES_H_
#define CONTROLLERS_SLICE_COLLECTION_SLICE_SOURCES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "api/endpoint_slice.h"
#include "controllers/context/member_inventory.h"
#include "kube/cache/informer.h"
#include "kube/runtime/work_queue.h"

namespace controllers {

// Reasons of the requests of the loop over slices. All name a cluster.
inline constexpr kube::Reason kOneSlice;  // The key is that of a slice.
inline constexpr kube::Reason kSlicesOfService =
    "slices of the service";  // The key is that of a Service.
inline constexpr kube::Reason kAllSlices =
    "all slices";  // Every slice that is collected, or has to be.

// A slice weighs 1 for each of these that it begins: the 100 endpoints that Kubernetes puts into a
// slice take less, with all that is known of them, and a slice as large as can be stored weighs 24.
inline constexpr size_t kBytesOfWeight = 64 << 10;
size_t WeightOf(const kube::Object& slice);

// Thread-safe, but calls about one cluster must not overlap.
class SliceSources {
 public:
  // REQUIRES: the inventory outlives this object.
  SliceSources(MemberInventory& inventory, api::SliceCollector collector)
      : inventory_(inventory), collector_(collector) {}

  // Requests for slices and Services that change in a member go into `queue`. Call it before
  // Follow. REQUIRES: the queue exists until LeaveAll.
  void Attach(kube::WorkQueue& queue) { queue_ = &queue; }

  // Follows the kinds in the member, unless that is so already. Objects that are there cause no
  // requests. Errors are those of the connection.
  absl::Status Follow(const std::string& cluster);
  // Leaves the member, or all of them.
  void Leave(const std::string& cluster);
  void LeaveAll();
  bool Follows(const std::string& cluster) const;

  // What is wrong with a kind of which it is not known what the member has.
  struct Waiting {
    kube::Resource resource;
    absl::Status error;  // OK while the first list is under way.
  };
  // Returns the kinds that have not been listed, and those that were and that the member does not
  // serve any more: their stores show what was there before. REQUIRES: Follow was called.
  std::vector<Waiting> NotListed(const std::string& cluster) const;
  // Counts the exports of the member as none until they are listed again: it does not serve the
  // kind. What the store still shows does not count.
  void AssumeNoExports(const std::string& cluster);
  // Returns whether ListedIn has returned other stores since the last call, or some for the first
  // time. This is where exports that were assumed to be none count again, once they are listed.
  bool TakeNews(const std::string& cluster);

  // The stores of a member in which an object that is missing does not exist.
  struct Listed {
    std::shared_ptr<kube::Informer> slices;
    std::shared_ptr<kube::Informer> exports;  // nullptr: there are none.

    // Return the slices of a Service, without those that Karmada has made, and what they weigh.
    std::vector<kube::ObjectPtr> SlicesOf(const kube::ObjectKey& service) const;
    size_t WeightOf(const kube::ObjectKey& service) const;
    // Returns what all slices weigh, also those of Karmada and of no Service.
    size_t Weight() const;
    // Returns whether something may be missing that the member has (Informer::LeavesOut). Ask it
    // before the informers.
    bool LeavesOut() const;
  };
  // Returns nothing while the kinds have not been listed.
  std::optional<Listed> ListedIn(const std::string& cluster) const;

 private:
  using FollowedPtr = std::shared_ptr<MemberInventory::Followed>;
  struct Member {
    FollowedPtr slices, exports;
    bool has_no_exports = false;  // Assumed, see AssumeNoExports.
    // The exports with which TakeNews last returned true; absent before the first time.
    std::optional<const kube::Informer*> taken;
  };

  kube::EventHandler HandlerFor(const std::string& cluster, bool is_slice);
  // Returns whether all informers are those of the present connection.
  bool IsCurrent(const std::string& cluster, const Member& member) const;
  bool NeedsExports() const { return collector_ == api::SliceCollector::kServiceExport; }
  std::optional<Member> Find(const std::string& cluster) const;
  static std::optional<Listed> ListedOf(const Member& member);

  MemberInventory& inventory_;
  kube::WorkQueue* queue_ = nullptr;
  const api::SliceCollector collector_;
  mutable absl::Mutex mu_;
  std::map<std::string, Member> members_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_SLICE_SOURCES_H_
