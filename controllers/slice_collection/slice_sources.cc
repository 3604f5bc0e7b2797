#include "controllers/slice_collection/slice_sources.h"

#include <utility>

#include "api/resources.h"
#include "base/status.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr char kSlicesByService[] = "service";

std::vector<std::string> ServiceOf(const kube::Object& slice) {
  const kube::ObjectKey service = api::EndpointSliceView(slice).Service();
  if (service.name.empty()) return {};
  return {service.ToString()};
}

}  // namespace

absl::Status SliceSources::Follow(const std::string& cluster) {
  std::optional<Member> known = Find(cluster);
  if (known.has_value() && IsCurrent(cluster, *known)) return absl::OkStatus();
  known.reset();
  Leave(cluster);  // The handlers of informers that have ended.
  Member member;
  ASSIGN_OR_RETURN(member.slices, inventory_.Follow(cluster, api::EndpointSlices(),
                                                    HandlerFor(cluster, /*is_slice=*/true)));
  member.slices->informer()->AddIndex(kSlicesByService, ServiceOf);
  if (NeedsExports()) {
    ASSIGN_OR_RETURN(member.exports, inventory_.Follow(cluster, api::ServiceExports(),
                                                       HandlerFor(cluster, /*is_slice=*/false)));
  }
  absl::MutexLock lock(&mu_);
  members_.insert_or_assign(cluster, std::move(member));
  return absl::OkStatus();
}

// What is there when a kind is first listed is looked at as a whole (kAllSlices).
kube::EventHandler SliceSources::HandlerFor(const std::string& cluster, bool is_slice) {
  const int variant = is_slice ? kOneSlice : kSlicesOfService;
  const auto look = [&queue = *queue_, cluster, variant](const kube::ObjectPtr& object) {
    queue.Add({.key = object->key(), .cluster = cluster, .variant = variant});
  };
  kube::EventHandler handler;
  handler.on_add = [look](const kube::ObjectPtr& object, bool initial) {
    if (!initial) look(object);
  };
  if (is_slice) {
    handler.on_update = [look](const kube::ObjectPtr& before, const kube::ObjectPtr& after) {
      if (kube::ResourceVersionChanged(*before, *after)) look(after);
    };
  }
  handler.on_delete = look;
  handler.on_resync = look;
  return handler;
}

bool SliceSources::IsCurrent(const std::string& cluster, const Member& member) const {
  return inventory_.IsCurrent(cluster, *member.slices) &&
         (member.exports == nullptr || inventory_.IsCurrent(cluster, *member.exports));
}

void SliceSources::Leave(const std::string& cluster) {
  std::optional<Member> left;  // Ended without the lock.
  absl::MutexLock lock(&mu_);
  const auto found = members_.find(cluster);
  if (found == members_.end()) return;
  left = std::move(found->second);
  members_.erase(found);
}

void SliceSources::LeaveAll() {
  std::map<std::string, Member> left;
  absl::MutexLock lock(&mu_);
  left.swap(members_);
}

std::optional<SliceSources::Member> SliceSources::Find(const std::string& cluster) const {
  absl::MutexLock lock(&mu_);
  const auto found = members_.find(cluster);
  return found == members_.end() ? std::nullopt : std::optional<Member>(found->second);
}

bool SliceSources::Follows(const std::string& cluster) const { return Find(cluster).has_value(); }

std::vector<SliceSources::Waiting> SliceSources::NotListed(const std::string& cluster) const {
  std::vector<Waiting> waiting;
  const std::optional<Member> member = Find(cluster);
  if (!member.has_value()) return waiting;
  for (const FollowedPtr& followed : {member->slices, member->exports}) {
    if (followed == nullptr || followed->informer()->HasSynced()) continue;
    waiting.push_back({followed->informer()->resource(), followed->informer()->last_error()});
  }
  return waiting;
}

void SliceSources::AssumeNoExports(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  const auto found = members_.find(cluster);
  if (found != members_.end()) found->second.has_no_exports = true;
}

bool SliceSources::TakeNews(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  const auto found = members_.find(cluster);
  if (found == members_.end()) return false;
  Member& member = found->second;
  const std::optional<Listed> listed = ListedOf(member);
  if (!listed.has_value() || member.taken == listed->exports.get()) return false;
  member.taken = listed->exports.get();
  return true;
}

std::optional<SliceSources::Listed> SliceSources::ListedIn(const std::string& cluster) const {
  const std::optional<Member> member = Find(cluster);
  return member.has_value() ? ListedOf(*member) : std::nullopt;
}

std::optional<SliceSources::Listed> SliceSources::ListedOf(const Member& member) {
  if (!member.slices->informer()->HasSynced()) return std::nullopt;
  Listed listed{member.slices->informer(), nullptr};
  if (member.exports == nullptr) return listed;
  if (member.exports->informer()->HasSynced()) {
    listed.exports = member.exports->informer();
    return listed;
  }
  return member.has_no_exports ? std::optional<Listed>(listed) : std::nullopt;
}

std::vector<kube::ObjectPtr> SliceSources::Listed::SlicesOf(const kube::ObjectKey& service) const {
  return slices->store().ByIndex(kSlicesByService, service.ToString());
}

}  // namespace controllers
