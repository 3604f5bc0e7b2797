// A mirror keeps a source for each slice, and reads it on its own thread whenever it compares. The
// source looks the cache of the slice up each time, because caches are made and destroyed as the
// scope changes; a door in between is closed before the cache of all members ends.

#include "cmd/search/mirror_wiring.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/stop_flag.h"
#include "kube/cache/encoded_object.h"

namespace cmd {
namespace {

// How long a member may take to say its version.
constexpr absl::Duration kAnswer = absl::Seconds(10);

int64_t NumberOf(absl::string_view version) {
  int64_t number = 0;
  return absl::SimpleAtoi(version, &number) ? number : 0;
}

search::MirroredObject MirroredOf(const kube::ObjectPtr& object) {
  return {.uid = std::string(object->uid()),
          .resource_version = NumberOf(object->resource_version()),
          .json = [object] { return std::string(kube::Encoded(*object).text()); },
          .ns = std::string(object->ns())};
}

// Waits for the answer of WatchCache::AskState, which may never arrive.
class VersionAnswer {
 public:
  void Set(const absl::StatusOr<int64_t>& version) {
    absl::MutexLock lock(&mu_);
    version_ = version;
  }
  absl::StatusOr<int64_t> Await(const base::Clock& clock, const base::StopToken& stop) {
    const base::StopFlag stopped(mu_, stop);
    absl::MutexLock lock(&mu_);
    const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return stopped.IsSet() || version_.has_value();
    };
    clock.AwaitUntil(mu_, absl::Condition(&ready), clock.SteadyNow() + kAnswer);
    if (version_.has_value()) return *version_;
    return absl::UnavailableError("the member has not said its version in time");
  }

 private:
  absl::Mutex mu_;
  std::optional<absl::StatusOr<int64_t>> version_ ABSL_GUARDED_BY(mu_);
};

using Slices = std::set<search::Slice>;

Slices SlicesOf(const search::Scope& scope) {
  Slices slices;
  for (const auto& [cluster, part] : scope.clusters) {
    for (const auto& [gvr, wanted] : part->resources) slices.insert({cluster, wanted.resource.gvk});
  }
  return slices;
}

// Adds the slices of kinds of which discovery could not determine whether they are served. Nothing
// is cached of them, so nothing is written, and what is there of them is not taken for something
// that nobody wants any more.
void AddUndetermined(const search::Scope& scope, const std::string& registry,
                     std::vector<search::Slice>& slices) {
  const auto unresolved = scope.unresolved.find(registry);
  const auto matches = scope.matches.find(registry);
  if (unresolved == scope.unresolved.end() || matches == scope.matches.end()) return;
  for (const auto& [gvk, why] : unresolved->second) {
    if (!scope.undetermined.contains(gvk)) continue;
    for (const std::string& cluster : matches->second) slices.push_back({cluster, gvk});
  }
}

std::vector<search::MirrorSet::Target> TargetsOf(const search::Scope& scope) {
  std::vector<search::MirrorSet::Target> targets;
  for (const auto& [registry, where] : scope.open_search) {
    search::MirrorSet::Target target{.where = where};
    for (const auto& [cluster, part] : scope.clusters) {
      for (const auto& [gvr, wanted] : part->resources) {
        // A slice is mirrored for those registries only that select it.
        if (!wanted.registries.contains(registry)) continue;
        target.slices.push_back({cluster, wanted.resource.gvk});
        const auto some = wanted.narrowed.find(registry);
        if (some != wanted.narrowed.end()) target.narrowed[target.slices.back()] = some->second;
      }
    }
    AddUndetermined(scope, registry, target.slices);
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

class MirrorWiring::Door {
 public:
  void Set(CacheFn caches) {
    absl::MutexLock lock(&mu_);
    caches_ = std::move(caches);
  }
  absl::StatusOr<std::shared_ptr<kube::WatchCache>> Find(const std::string& cluster,
                                                         const kube::Gvr& gvr) {
    absl::ReaderMutexLock lock(&mu_);
    std::shared_ptr<kube::WatchCache> cache = caches_ ? caches_(cluster, gvr) : nullptr;
    if (cache == nullptr) return absl::UnavailableError("the cache does not hold the kind");
    return cache;
  }

  class Source;

 private:
  absl::Mutex mu_;
  CacheFn caches_ ABSL_GUARDED_BY(mu_);
};

class MirrorWiring::Door::Source : public search::SliceSource {
 public:
  Source(std::shared_ptr<Door> door, std::string cluster, kube::Gvr gvr, const base::Clock& clock)
      : door_(std::move(door)), cluster_(std::move(cluster)), gvr_(std::move(gvr)), clock_(clock) {}

  absl::StatusOr<search::SliceSnapshot> Snapshot() override {
    ASSIGN_OR_RETURN(const auto cache, door_->Find(cluster_, gvr_));
    if (!cache->HasSynced()) return absl::UnavailableError("the cache has not listed the kind yet");
    // It is read before the objects, which may be newer then.
    const int64_t known = cache->progress().version;
    ASSIGN_OR_RETURN(const kube::WatchCache::Snapshot now, cache->Read({}));
    search::SliceSnapshot out{.known_version = known};
    out.objects.reserve(now.objects->size());
    for (const kube::ObjectPtr& object : *now.objects) out.objects.push_back(MirroredOf(object));
    return out;
  }

  absl::StatusOr<int64_t> ServerVersion(const base::StopToken& stop) override {
    ASSIGN_OR_RETURN(const auto cache, door_->Find(cluster_, gvr_));
    const auto answer = std::make_shared<VersionAnswer>();
    using ServerState = kube::Informer::ServerState;
    cache->AskState({}, [answer](const absl::StatusOr<ServerState>& state) {
      answer->Set(state.ok() ? absl::StatusOr<int64_t>(state->version) : state.status());
    });
    return answer->Await(clock_, stop);
  }

 private:
  const std::shared_ptr<Door> door_;
  const std::string cluster_;
  const kube::Gvr gvr_;
  const base::Clock& clock_;
};

MirrorWiring::MirrorWiring(search::MirrorSet::Options options, const base::Clock& clock,
                           metrics::Registry* metrics)
    : door_(std::make_shared<Door>()),
      clock_(clock),
      mirrors_(std::move(options), clock, metrics) {}

void MirrorWiring::SetCache(CacheFn caches) { door_->Set(std::move(caches)); }

void MirrorWiring::OnSynced(const std::string& cluster, const kube::Resource& resource) {
  mirrors_.Synced({cluster, resource.gvk},
                  std::make_shared<Door::Source>(door_, cluster, resource.gvr(), clock_));
}

void MirrorWiring::OnEvent(const std::string& cluster, const kube::Resource& resource,
                           const kube::WatchCache::Event& event) {
  const search::Slice slice{cluster, resource.gvk};
  if (event.after != nullptr) {
    // An object's own version, not that of the event: when the cache begins to hold more
    // namespaces, an old object is delivered with the version of the list, which no comparison
    // would find again in it.
    return mirrors_.Upsert(slice, MirroredOf(event.after));
  }
  // A deletion that a list has revealed has no version of its own; the list's is late enough.
  mirrors_.Delete(slice, event.before->uid(),
                  std::max(event.version, NumberOf(event.before->resource_version())),
                  event.before->ns());
}

void MirrorWiring::OnScope(const search::Scope& before, const search::Scope& after) {
  mirrors_.SetTargets(TargetsOf(after));
  const Slices now = SlicesOf(after);
  for (const search::Slice& slice : SlicesOf(before)) {
    if (!now.contains(slice)) mirrors_.Left(slice);
  }
}

}  // namespace cmd
