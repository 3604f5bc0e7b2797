// For each followed member an informer of EndpointSlices, with indexes by Service and by weight,
// and for the collector of exports one of ServiceExports; their handlers put requests into the
// queue of the loop over slices. What a first list brings causes no requests, since the loop over
// clusters then asks for everything. members_, under mu_, says which members are followed;
// informers are ended without mu_, because that waits for handlers, which may ask this object.
//
// A kind that the member stops serving keeps its objects in the store: nobody has seen them
// deleted. IsListed and has_no_exports tell such a store from one that shows the present. After a
// lost connection Follow replaces the informers; what happened in between is found by the next look
// at everything.

#include "controllers/slice_collection/slice_sources.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/runtime/controller.h"

namespace controllers {
namespace {

constexpr char kSlicesByService[] = "service";
constexpr char kSlicesByWeight[] = "weight";

// Those that Karmada has brought to the member are not among the slices that count.
std::vector<std::string> ServiceOf(const kube::Object& slice) {
  const api::EndpointSliceView view(slice);
  if (view.Service().name.empty() || view.IsManagedByKarmada()) return {};
  return {view.Service().ToString()};
}

// The values under which slices of this weight and of greater ones are found: all of them, and
// those of a Service.
std::string AllOfWeight(size_t weight) { return absl::StrCat(weight); }
std::string OfWeight(size_t weight, absl::string_view service) {
  return absl::StrCat(weight, "/", service);
}

// Most slices weigh 1, and have no value here.
std::vector<std::string> WeightsOf(const kube::Object& slice) {
  std::vector<std::string> values;
  const size_t weight = WeightOf(slice);
  const std::vector<std::string> services = ServiceOf(slice);
  for (size_t i = 2; i <= weight; ++i) {
    values.push_back(AllOfWeight(i));
    for (const std::string& service : services) values.push_back(OfWeight(i, service));
  }
  return values;
}

// Returns whether the store shows what the member has. A definition that is deleted takes its
// objects along; when the watch is cut off at that moment, they stay in the store.
bool IsListed(const kube::Informer& informer) {
  return informer.HasSynced() && !kube::IsNoSuchKind(informer.last_error());
}

// Returns whether the kind has been listed since it was away: then no failure is left of that.
bool IsListedAgain(const kube::Informer& informer) {
  return informer.HasSynced() && informer.last_error().ok();
}

}  // namespace

size_t WeightOf(const kube::Object& slice) {
  return json::Write(slice.root()).size() / kBytesOfWeight + 1;
}

absl::Status SliceSources::Follow(const std::string& cluster) {
  std::optional<Member> known = Find(cluster);
  if (known.has_value() && IsCurrent(cluster, *known)) return absl::OkStatus();
  known.reset();
  Leave(cluster);  // The handlers of informers that have ended.
  Member member;
  ASSIGN_OR_RETURN(member.slices, inventory_.Follow(cluster, api::EndpointSlices(),
                                                    HandlerFor(cluster, /*is_slice=*/true)));
  member.slices->informer()->AddIndex(kSlicesByService, ServiceOf);
  member.slices->informer()->AddIndex(kSlicesByWeight, WeightsOf);
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
  const kube::Reason reason = is_slice ? kOneSlice : kSlicesOfService;
  const auto look = [&queue = *queue_, cluster, reason](const kube::ObjectPtr& object) {
    queue.Add({.key = object->key(), .cluster = cluster, .reason = reason});
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
    if (followed == nullptr) continue;
    const kube::Informer& informer = *followed->informer();
    const bool was_away = followed == member->exports && member->has_no_exports;
    if (was_away ? IsListedAgain(informer) : IsListed(informer)) continue;
    waiting.push_back({informer.resource(), informer.last_error()});
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
  if (member.has_no_exports && IsListedAgain(*member.exports->informer())) {
    member.has_no_exports = false;
  }
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
  if (member.exports == nullptr || member.has_no_exports) return listed;
  if (!member.exports->informer()->HasSynced()) return std::nullopt;
  listed.exports = member.exports->informer();
  return listed;
}

std::vector<kube::ObjectPtr> SliceSources::Listed::SlicesOf(const kube::ObjectKey& service) const {
  return slices->store().ByIndex(kSlicesByService, service.ToString());
}

size_t SliceSources::Listed::WeightOf(const kube::ObjectKey& service) const {
  const std::string name = service.ToString();
  size_t sum = slices->store().CountByIndex(kSlicesByService, name);
  // A slice of weight w is in the indexes of 2 to w, so that the counts of all of them add up to
  // the weights; the first empty one ends the sum.
  for (size_t i = 2, more = sum; more > 0; ++i, sum += more) {
    more = slices->store().CountByIndex(kSlicesByWeight, OfWeight(i, name));
  }
  return sum;
}

bool SliceSources::Listed::LeavesOut() const {
  return slices->LeavesOut() || (exports != nullptr && exports->LeavesOut());
}

size_t SliceSources::Listed::Weight() const {
  size_t sum = slices->store().size();
  for (size_t i = 2, more = sum; more > 0; ++i, sum += more) {
    more = slices->store().CountByIndex(kSlicesByWeight, AllOfWeight(i));
  }
  return sum;
}

}  // namespace controllers
