// SetTargets groups the targets into places, one for each OpenSearch. A place that has the same
// addresses and Secret as before keeps its mirror and is told the difference. One that has changed
// gets another mirror, which finds by itself what it has to write and delete; the old one ends at
// once, because they share an OpenSearch.
//
// A place that the targets do not have any more leaves. Its OpenSearch may still be that of another
// place, under an address that nobody knew before. So its mirror forgets everything but its
// connection, and waits until the mirrors of all places have claimed what they found, or its time
// is over. If one of them finds the same OpenSearch, its claim fails, and the thread of the set
// groups the targets again, now that it knows that the addresses are of one OpenSearch: the mirror
// that leaves ends without deleting anything, or two places become one. Otherwise the mirror that
// leaves deletes its documents, and ends when it has, or when its time is over.

#include "search/opensearch/mirror_set.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace search {
namespace {

std::string Normal(absl::string_view address) {
  return std::string(absl::StripSuffix(address, "/"));
}

// How often the set looks whether a mirror that leaves has finished.
constexpr absl::Duration kLook = absl::Seconds(1);

void AddAddresses(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& address : from) {
    if (std::find(to.begin(), to.end(), Normal(address)) == to.end()) {
      to.push_back(Normal(address));
    }
  }
}

// The part of a slice that lies in some namespaces.
class NarrowedSource : public SliceSource {
 public:
  NarrowedSource(std::shared_ptr<SliceSource> whole, std::set<std::string> namespaces)
      : whole_(std::move(whole)), namespaces_(std::move(namespaces)) {}

  absl::StatusOr<SliceSnapshot> Snapshot() override {
    ASSIGN_OR_RETURN(SliceSnapshot snapshot, whole_->Snapshot());
    std::erase_if(snapshot.objects, [this](const MirroredObject& object) {
      return !namespaces_.contains(object.ns);
    });
    return snapshot;
  }
  absl::StatusOr<int64_t> ServerVersion(const base::StopToken& stop) override {
    return whole_->ServerVersion(stop);
  }

 private:
  const std::shared_ptr<SliceSource> whole_;
  const std::set<std::string> namespaces_;
};

using Narrowed = std::map<Slice, std::set<std::string>>;

// The namespaces of the slice that are wanted; nullptr stands for all.
const std::set<std::string>* NamespacesOf(const Narrowed& narrowed, const Slice& slice) {
  const auto found = narrowed.find(slice);
  return found == narrowed.end() ? nullptr : &found->second;
}

bool HaveSameNamespaces(const Narrowed& a, const Narrowed& b, const Slice& slice) {
  const std::set<std::string>* one = NamespacesOf(a, slice);
  const std::set<std::string>* other = NamespacesOf(b, slice);
  return one == nullptr || other == nullptr ? one == other : *one == *other;
}

bool Covers(const Narrowed& narrowed, const Slice& slice, absl::string_view ns) {
  const std::set<std::string>* namespaces = NamespacesOf(narrowed, slice);
  return namespaces == nullptr || namespaces->contains(std::string(ns));
}

void WarnOfLeftovers(const api::OpenSearchTarget& where, const MirrorStatus& status) {
  base::LogWarning(
      "documents stay in an OpenSearch that no ResourceRegistry names any more; they are deleted "
      "when a registry names it again, or by whoever deletes the indices there",
      {{"address", kube::WithoutUserInfo(where.addresses.front())},
       {"error", status.last_error.empty() ? "other OpenSearches did not answer, of which one may "
                                             "be the same"
                                           : status.last_error}});
}

std::shared_ptr<SliceSource> Narrow(const Narrowed& narrowed, const Slice& slice,
                                    std::shared_ptr<SliceSource> source) {
  const std::set<std::string>* namespaces = NamespacesOf(narrowed, slice);
  if (namespaces == nullptr) return source;
  return std::make_shared<NarrowedSource>(std::move(source), *namespaces);
}

}  // namespace

MirrorSet::MirrorSet(Options options, const base::Clock& clock, metrics::Registry* metrics)
    : options_(std::move(options)), clock_(clock), metrics_(metrics) {
  thread_ = base::StartThread("the mirrors in OpenSearch", [this] { Run(); });
}

MirrorSet::~MirrorSet() {
  stop_.request_stop();
  thread_.join();
}

void MirrorSet::Run() {
  const base::StopToken stop = stop_.get_token();
  while (!stop.stop_requested()) {
    if (claims_->AwaitChange(clock_, NextLook(), stop)) {
      // apply_mu_ is taken before mu_: targets are applied one at a time, and events pass
      // meanwhile.
      absl::MutexLock lock(&apply_mu_);
      Apply();
    }
    TakeFinished();
  }
}

base::SteadyTime MirrorSet::NextLook() const {
  absl::MutexLock lock(&mu_);
  return leaving_.empty() ? base::SteadyTime::InfiniteFuture() : clock_.SteadyNow() + kLook;
}

bool MirrorSet::IsSame(const api::OpenSearchTarget& a, const api::OpenSearchTarget& b) const {
  const std::string one = claims_->ClusterOf(a.addresses);
  const std::string other = claims_->ClusterOf(b.addresses);
  // What the servers have said about themselves counts for more than how they are addressed.
  if (!one.empty() || !other.empty()) return one == other;
  return std::any_of(a.addresses.begin(), a.addresses.end(), [&](const std::string& address) {
    return std::find(b.addresses.begin(), b.addresses.end(), address) != b.addresses.end();
  });
}

// What either of them wants.
void MirrorSet::Join(const Place& from, Place& to) {
  to.targets.insert(to.targets.begin(), from.targets.begin(), from.targets.end());
  to.unusable.insert(from.unusable.begin(), from.unusable.end());
  for (const Slice& slice : from.slices) {
    const std::set<std::string>* namespaces = NamespacesOf(from.narrowed, slice);
    const bool is_new = to.slices.insert(slice).second;
    if (namespaces == nullptr) {
      // One of them wants all namespaces.
      to.narrowed.erase(slice);
    } else if (is_new || to.narrowed.contains(slice)) {
      to.narrowed[slice].insert(namespaces->begin(), namespaces->end());
    }
  }
}

MirrorSet::Place MirrorSet::PlaceOf(const Target& target) {
  Place place{.targets = {target.where},
              .slices = {target.slices.begin(), target.slices.end()},
              .narrowed = target.narrowed};
  place.where.secret = target.where.secret;
  for (const std::string& address : target.where.addresses) {
    const absl::Status usable = CheckAddress(address);
    if (usable.ok()) {
      AddAddresses({address}, place.where.addresses);
    } else {
      place.unusable[kube::WithoutUserInfo(address)] = std::string(usable.message());
    }
  }
  if (!place.where.addresses.empty()) return place;
  place.error =
      place.unusable.empty() ? "there is no address of OpenSearch" : place.unusable.begin()->second;
  return place;
}

// A target joins all places that mean the same OpenSearch, which makes them one.
std::vector<MirrorSet::Place> MirrorSet::PlacesOf(const std::vector<Target>& targets) const {
  std::vector<Place> places;
  for (const Target& target : targets) {
    Place joined = PlaceOf(target);
    bool first = true;
    std::vector<Place> others;
    for (Place& place : places) {
      if (!IsSame(place.where, joined.where)) {
        others.push_back(std::move(place));
        continue;
      }
      const bool shares_secret = place.where.secret == joined.where.secret;
      if (std::exchange(first, false)) std::swap(joined.where, place.where);
      // A Secret goes only to addresses of targets that name it themselves.
      if (shares_secret) AddAddresses(place.where.addresses, joined.where.addresses);
      Join(place, joined);
    }
    others.push_back(std::move(joined));
    places = std::move(others);
  }
  return places;
}

void MirrorSet::Start(Place& place) {
  MirrorOptions options = options_.mirror;
  options.addresses = place.where.addresses;
  if (!place.where.secret.name.empty()) {
    options.credentials = [read = options_.secret,
                           key = place.where.secret]() -> absl::StatusOr<OpenSearchCredentials> {
      auto secret = read(key);
      if (!secret.ok()) return base::Annotate(secret.status(), "Secret ", key.ToString());
      return CredentialsOf(*secret);
    };
  }
  // Never used again, so that a claim tells one mirror from its successor at the same address.
  place.number = ++last_number_;
  options.claim = [claims = claims_, number = place.number, addresses = place.where.addresses](
                      const ClusterIds& ids) { return claims->Claim(number, addresses, ids); };
  auto mirror = OpenSearchMirror::Create(std::move(options), clock_, metrics_);
  if (mirror.ok()) {
    // A search may hold the mirror for longer than the set does.
    place.mirror = std::shared_ptr<OpenSearchMirror>(
        mirror->release(), [claims = claims_, number = place.number](OpenSearchMirror* ended) {
          delete ended;
          claims->Release(number);
        });
    return;
  }
  place.error = std::string(mirror.status().message());
}

void MirrorSet::ReportDifference(const Place& before, const Place& place) {
  for (const Slice& slice : before.slices) {
    if (!place.slices.contains(slice)) place.mirror->KindLeft(slice);
  }
  if (before.slices.empty() || before.slices != place.slices) {
    place.mirror->SetScope({place.slices.begin(), place.slices.end()});
  }
  for (const Slice& slice : place.slices) {
    const auto source = sources_.find(slice);
    const bool same =
        before.slices.contains(slice) && HaveSameNamespaces(before.narrowed, place.narrowed, slice);
    if (source == sources_.end() || same) continue;
    place.mirror->Synced(slice, Narrow(place.narrowed, slice, source->second));
  }
}

void MirrorSet::SayGoodbye() {
  const bool all_known = std::all_of(places_.begin(), places_.end(), [&](const Place& place) {
    // As long as one has not said which OpenSearch it reached, that may be the one that is left.
    return place.mirror == nullptr || claims_->HasClaim(place.number);
  });
  if (applying_ || !all_known) return;
  for (Leaving& leaving : leaving_) {
    if (std::exchange(leaving.asked, true)) continue;
    leaving.mirror->SetScope({});
    leaving.until = clock_.SteadyNow() + options_.farewell;
  }
}

void MirrorSet::Retire(const Place& place) {
  place.mirror->Retire();
  leaving_.push_back({.where = place.where,
                      .mirror = place.mirror,
                      .until = clock_.SteadyNow() + options_.farewell_wait});
}

MirrorSet::Mirrors MirrorSet::KeepAndRetire(std::vector<Place>& places) {
  Mirrors ended;
  absl::MutexLock lock(&mu_);
  const auto is_shared = [&](const api::OpenSearchTarget& where) {
    return std::any_of(places.begin(), places.end(),
                       [&](const Place& p) { return IsSame(p.where, where); });
  };
  applying_ = true;
  std::vector<Place> kept;
  for (Place& before : places_) {
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const Place& p) { return p.where == before.where; });
    // It could not be used; it is tried again as a new one.
    if (before.mirror == nullptr) continue;
    if (same != places.end()) {
      same->mirror = before.mirror;
      same->number = before.number;
      ReportDifference(before, *same);
      kept.push_back(*same);
    } else if (is_shared(before.where)) {
      ended.push_back(before.mirror);
    } else {
      Retire(before);
    }
  }
  for (Leaving& leaving : leaving_) {
    if (is_shared(leaving.where)) ended.push_back(std::move(leaving.mirror));
  }
  std::erase_if(leaving_, [](const Leaving& leaving) { return leaving.mirror == nullptr; });
  std::erase_if(places, [](const Place& place) { return place.mirror != nullptr; });
  places_ = std::move(kept);
  return ended;
}

void MirrorSet::SetTargets(const std::vector<Target>& targets) {
  absl::MutexLock lock(&apply_mu_);
  targets_ = targets;
  Apply();
  claims_->Wake();
}

void MirrorSet::Apply() {
  std::vector<Place> places = PlacesOf(targets_);
  // They end here, before another one begins in the same OpenSearch.
  KeepAndRetire(places);
  for (Place& place : places) {
    if (place.error.empty()) Start(place);
    if (!place.error.empty()) {
      base::LogWarning("a ResourceRegistry names an OpenSearch that cannot be used",
                       {{"error", place.error}});
    }
    absl::MutexLock lock(&mu_);
    if (place.mirror != nullptr) ReportDifference({}, place);
    places_.push_back(std::move(place));
  }
  absl::MutexLock lock(&mu_);
  applying_ = false;
}

MirrorSet::Mirrors MirrorSet::TakeFinished() {
  Mirrors finished;
  absl::MutexLock lock(&mu_);
  SayGoodbye();
  for (Leaving& leaving : leaving_) {
    const base::SteadyTime now = clock_.SteadyNow();
    const bool idle = leaving.asked && leaving.mirror->AwaitIdle(now, {}).ok();
    if (!idle && now < leaving.until) continue;
    if (!idle) WarnOfLeftovers(leaving.where, leaving.mirror->Status());
    finished.push_back(std::move(leaving.mirror));
  }
  std::erase_if(leaving_, [](const Leaving& leaving) { return leaving.mirror == nullptr; });
  return finished;
}

void MirrorSet::Synced(const Slice& slice, std::shared_ptr<SliceSource> source) {
  absl::MutexLock lock(&mu_);
  for (const Place& place : places_) {
    if (place.mirror != nullptr && place.slices.contains(slice)) {
      place.mirror->Synced(slice, Narrow(place.narrowed, slice, source));
    }
  }
  // Kept for places that begin later, which need not wait for the cache to be listed again.
  sources_[slice] = std::move(source);
}

void MirrorSet::Upsert(const Slice& slice, const MirroredObject& object) {
  absl::MutexLock lock(&mu_);
  for (const Place& place : places_) {
    if (place.mirror == nullptr || !Covers(place.narrowed, slice, object.ns)) continue;
    place.mirror->Upsert(slice, object);
  }
}

void MirrorSet::Delete(const Slice& slice, absl::string_view uid, int64_t resource_version,
                       absl::string_view ns) {
  absl::MutexLock lock(&mu_);
  for (const Place& place : places_) {
    if (place.mirror == nullptr || !Covers(place.narrowed, slice, ns)) continue;
    place.mirror->Delete(slice, uid, resource_version);
  }
}

void MirrorSet::Left(const Slice& slice) {
  absl::MutexLock lock(&mu_);
  sources_.erase(slice);
}

void MirrorSet::ReloadCredentials(const kube::ObjectKey& secret) {
  absl::MutexLock lock(&mu_);
  for (const Place& place : places_) {
    if (place.mirror != nullptr && place.where.secret == secret) place.mirror->ReloadCredentials();
  }
}

std::vector<MirrorSet::TargetStatus> MirrorSet::Status() {
  TakeFinished();
  std::vector<TargetStatus> all;
  absl::MutexLock lock(&mu_);
  for (const Place& place : places_) {
    all.push_back(
        {.addresses = place.where.addresses, .targets = place.targets, .error = place.error});
    if (place.mirror != nullptr) all.back().mirror = place.mirror->Status();
    all.back().mirror.unused.insert(place.unusable.begin(), place.unusable.end());
  }
  return all;
}

std::vector<std::shared_ptr<OpenSearchMirror>> MirrorSet::MirrorsOf(const kube::Gvk& kind) const {
  Mirrors mirrors;
  absl::MutexLock lock(&mu_);
  for (const Place& place : places_) {
    const bool has = std::any_of(place.slices.begin(), place.slices.end(),
                                 [&](const Slice& slice) { return slice.kind == kind; });
    if (has && place.mirror != nullptr) mirrors.push_back(place.mirror);
  }
  return mirrors;
}

}  // namespace search
