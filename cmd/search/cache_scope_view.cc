// Translates between the scope that the registries ask for and those who use it: the caches, the
// routing of requests, and the status of the registries. Most functions are pure. CacheStatesView
// keeps the states of all caches for a second, because the status of each registry asks for each
// slice by itself; its mutex guards that copy.
//
// The condition Mirrored has one reason at a time. The reasons are tried from the gravest on: an
// address that cannot be used, failing requests, failing kinds, refused documents, failing writes,
// and only then "not complete yet".

#include "cmd/search/cache_scope_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace cmd {
namespace {

constexpr absl::Duration kLifetime = absl::Seconds(1);

// Why OpenSearch is still incomplete although nothing has failed; "" if it is complete.
std::string MissingIn(const search::MirrorStatus& mirror) {
  if (mirror.unlisted > 0) {
    return absl::StrCat("kinds in clusters that have not been listed yet: ", mirror.unlisted);
  }
  if (!mirror.connected || mirror.unreconciled_slices > 0) {
    return "not everything has been compared yet";
  }
  if (mirror.unwritten > 0) {
    return absl::StrCat("documents that are still to be written or deleted: ", mirror.unwritten);
  }
  return "";
}

// Returns the state without what concerns single addresses of the target.
search::MirrorState StateOf(const search::MirrorSet::TargetStatus& status) {
  const search::MirrorStatus& mirror = status.mirror;
  if (!status.error.empty()) return {false, "UnusableAddress", status.error};
  if (!mirror.last_error.empty()) return {false, "RequestsFail", mirror.last_error};
  if (!mirror.failing.empty()) {
    const search::MirrorStatus::FailingSlice& first = mirror.failing.front();
    return {false, "KindsFail",
            absl::StrCat(first.slice.kind.kind, " of ", first.slice.cluster, ": ", first.error)};
  }
  if (mirror.dead_letters > 0 && mirror.samples.empty()) {
    return {false, "DocumentsRefused", absl::StrCat("documents refused: ", mirror.dead_letters)};
  }
  if (!mirror.samples.empty()) {
    const search::MirrorStatus::DeadLetter& first = mirror.samples.front();
    return {false, "DocumentsRefused",
            absl::StrCat("documents refused: ", mirror.dead_letters, ", such as ",
                         first.slice.kind.kind, " of ", first.slice.cluster, ", uid ", first.uid,
                         ": ", first.reason)};
  }
  if (mirror.retrying > 0) {
    return {false, "WritesFail",
            absl::StrCat("writes that failed and are tried again: ", mirror.retrying,
                         ", such as: ", mirror.retry_reason)};
  }
  if (std::string missing = MissingIn(mirror); !missing.empty()) {
    return {false, "Mirroring", std::move(missing)};
  }
  return {true, "Mirrored", "OpenSearch has all objects"};
}

// Says which of the target's addresses are not used, and why; "" if all are. Other registries may
// name further ones.
std::string UnusedOf(const search::MirrorStatus& mirror, const api::OpenSearchTarget& target) {
  std::vector<std::string> texts;
  for (const auto& [unused, why] : mirror.unused) {
    const auto is_named = [&](const std::string& address) {
      return kube::WithoutUserInfo(absl::StripSuffix(address, "/")) ==
             absl::StripSuffix(unused, "/");
    };
    if (std::none_of(target.addresses.begin(), target.addresses.end(), is_named)) continue;
    texts.push_back(absl::StrCat(unused, ": ", why));
  }
  if (texts.empty()) return "";
  return absl::StrCat("not used are ", absl::StrJoin(texts, "; "));
}

}  // namespace

search::MirrorState StateOfMirror(const search::MirrorSet::TargetStatus& status,
                                  const api::OpenSearchTarget& target) {
  search::MirrorState state = StateOf(status);
  const std::string unused = UnusedOf(status.mirror, target);
  // An address that cannot be used at all is the whole message already.
  if (unused.empty() || !status.error.empty()) return state;
  if (!state.complete) {
    absl::StrAppend(&state.message, "; ", unused);
    return state;
  }
  const std::string& cluster = status.mirror.cluster_uuid;
  // All objects are there, but not in every place that the registry names, so it is not complete.
  return {false, "AddressesDiffer",
          absl::StrCat("the OpenSearch cluster ", cluster, cluster.empty() ? "" : " ",
                       "has all objects; ", unused)};
}

search::CachedResources CachedResourcesOf(const search::Scope& scope) {
  search::CachedResources out;
  for (const auto& [cluster, part] : scope.clusters) {
    for (const auto& [gvr, wanted] : part->resources) {
      out[cluster][gvr] = {wanted.resource, wanted.namespaces};
    }
  }
  return out;
}

bool IsRegistered(const search::Scope& scope, const kube::server::RequestInfo& info,
                  const std::string& cluster) {
  // Without a cluster the question is whether any registry names the resource.
  if (cluster.empty()) return scope.registered.contains(info.gvr);
  const search::WantedResource* wanted = scope.Find(cluster, info.gvr);
  if (wanted == nullptr) return false;
  if (!info.key.ns.empty()) return wanted->Covers(info.key.ns);
  // A read of all namespaces shows those that are cached. Nothing else is limited to them.
  const bool is_read = info.subresource.empty() &&
                       (info.verb == "get" || info.verb == "list" || info.verb == "watch");
  return is_read || wanted->namespaces.empty();
}

std::vector<std::string> ClustersOf(const search::Scope& scope, const kube::Gvr& gvr) {
  std::vector<std::string> names;
  for (const auto& [cluster, part] : scope.clusters) {
    if (part->resources.contains(gvr)) names.push_back(cluster);
  }
  return names;
}

bool IsReady(const search::Scope& scope, const std::string& cluster) {
  const auto found = scope.clusters.find(cluster);
  return found != scope.clusters.end() && found->second->ready;
}

std::optional<kube::Resource> RegisteredResource(const search::Scope& scope, const kube::Gvr& gvr) {
  const auto found = scope.registered.find(gvr);
  if (found == scope.registered.end()) return std::nullopt;
  return found->second;
}

void CacheStatesView::Refresh() const {
  const base::SteadyTime now = clock_.SteadyNow();
  if (read_ != base::SteadyTime::InfinitePast() && now < read_ + kLifetime) return;
  read_ = now;
  states_.clear();
  for (const search::CacheState& state : cache_.States()) {
    const bool has_listed = state.progress.at != base::SteadyTime::InfinitePast();
    states_[{state.cluster, state.gvr}] = {
        .synced = state.synced,
        .objects = static_cast<int64_t>(state.objects),
        // A cache that has never listed is not behind: it is not synced.
        .lag = has_listed ? now - state.progress.at : absl::ZeroDuration(),
        .last_error = std::string(state.error.message())};
  }
}

std::optional<search::CachedSlice> CacheStatesView::StateOf(const std::string& cluster,
                                                            const kube::Gvr& gvr) const {
  absl::MutexLock lock(&mu_);
  Refresh();
  const auto found = states_.find({cluster, gvr});
  if (found == states_.end()) return std::nullopt;
  return found->second;
}

std::optional<search::MirrorState> CacheStatesView::MirrorOf(
    const api::OpenSearchTarget& target) const {
  if (mirrors_ == nullptr) {
    return search::MirrorState{false, "SwitchedOff", "this server runs with --disable-search"};
  }
  for (const search::MirrorSet::TargetStatus& status : mirrors_->Status()) {
    const auto& targets = status.targets;
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) continue;
    return StateOfMirror(status, target);
  }
  return std::nullopt;
}

}  // namespace cmd
