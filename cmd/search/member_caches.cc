// The parts refer to one another in a circle: the cache reports to the mirrors, and these read the
// cache. The mirrors are made first and destroyed last; before the cache ends, they are kept from
// reading it.

#include "cmd/search/member_caches.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/status.h"
#include "cmd/search/cache_scope_view.h"
#include "cmd/search/opensearch_secrets.h"
#include "config/version.h"
#include "kube/runtime/memory_watch.h"
#include "search/proxy/read_request.h"

namespace cmd {
namespace {

kube::ClusterSet::Options MemberOptions(const SearchOptions& o,
                                        std::shared_ptr<kube::InformerThreads> threads) {
  kube::ClusterSet::Options m;
  m.informer_threads = std::move(threads);
  m.qps = o.cluster_api_qps;
  m.burst = o.cluster_api_burst;
  m.member_bytes = kube::MemberBytes(o.cluster_memory_mib, base::ReadMemoryUse(), 0);
  m.user_agent = config::UserAgent(api::kSearch);
  return m;
}

// Returns what distinguishes this control plane from others that use the same OpenSearch.
absl::StatusOr<std::string> UidOf(ControlPlane& control_plane, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::Object system,
                   control_plane.client.Get(api::Namespaces(), {"", "kube-system"}, stop));
  if (system.uid().empty()) return absl::InternalError("the namespace kube-system has no uid");
  return std::string(system.uid());
}

absl::Status WhyUnknown(const kube::ObjectKey& secret, const MemberAccess& access) {
  const absl::Status error = access.ErrorOfSecrets(secret.ns);
  if (error.ok()) return absl::NotFoundError("it does not exist, or was not read yet");
  return absl::UnavailableError(
      absl::StrCat("the Secrets of namespace ", secret.ns, " cannot be read: ", error.message()));
}

search::MirrorSet::Options MirrorOptions(const MemberCaches::Parts& parts, MemberAccess& access) {
  search::MirrorSet::Options options;
  options.mirror.owner = [&control_plane = parts.control_plane](const base::StopToken& stop) {
    return UidOf(control_plane, stop);
  };
  options.mirror.index_prefix = MemberCaches::IndexPrefix();
  options.secret = [&access](const kube::ObjectKey& key) -> absl::StatusOr<kube::Object> {
    // Otherwise a user who may write registries could have a member's token sent to a server of his
    // own.
    if (access.IsOfMember(key)) {
      return absl::PermissionDeniedError(
          "it is the Secret of a Cluster, and goes to no OpenSearch");
    }
    const kube::ObjectPtr secret = access.SecretOf(key);
    if (secret == nullptr) return WhyUnknown(key, access);
    RETURN_IF_ERROR(MayGoToOpenSearch(*secret));
    return *secret;
  };
  return options;
}

std::set<kube::ObjectKey> SecretsOf(const search::Scope& scope) {
  std::set<kube::ObjectKey> keys;
  for (const auto& [registry, target] : scope.open_search) {
    if (!target.secret.name.empty()) keys.insert(target.secret);
  }
  return keys;
}

}  // namespace

const char* MemberCaches::IndexPrefix() { return "karmada-search"; }

MemberCaches::MemberCaches(const Parts& parts)
    : scope_(parts.scope),
      access_({*parts.control_plane.informers.Get(api::Clusters()), parts.control_plane.client,
               parts.control_plane.threads, parts.clock}),
      members_(MemberOptions(parts.options, parts.control_plane.threads), access_, parts.clock,
               &parts.registry) {
  search::MultiClusterCache::Options options{.clusters = members_, .clock = parts.clock};
  options.fields = search::SelectableFields;
  options.history = parts.options.watch_history;
  options.history_bytes = static_cast<size_t>(parts.options.watch_history_mebibytes) << 20;
  options.may_grow = [this] { return memory_.MayGrow(); };
  if (!parts.options.disable_search) {
    mirrors_ =
        std::make_unique<MirrorWiring>(MirrorOptions(parts, access_), parts.clock, &parts.registry);
    options.on_synced = [m = mirrors_.get()](const std::string& cluster,
                                             const kube::Resource& resource) {
      m->OnSynced(cluster, resource);
    };
    options.on_event = [m = mirrors_.get()](const std::string& cluster,
                                            const kube::Resource& resource,
                                            const kube::WatchCache::Event& event) {
      m->OnEvent(cluster, resource, event);
    };
  }
  cache_ = std::make_unique<search::MultiClusterCache>(std::move(options));
  if (mirrors_ != nullptr) {
    mirrors_->SetCache([cache = cache_.get()](const std::string& cluster, const kube::Gvr& gvr) {
      return cache->Find(cluster, gvr);
    });
  }
  // The last step: from here on other threads may call OnScope, which needs all of the above.
  parts.scope.Subscribe([this](const search::ScopePtr& before, const search::ScopePtr& after) {
    OnScope(before, after);
  });
}

MemberCaches::~MemberCaches() {
  // From here on mirrors find no cache; those that have found one keep it until they are done.
  if (mirrors_ != nullptr) mirrors_->SetCache({});
  cache_.reset();
  for (const std::string& name : members_.Names()) members_.Remove(name);
}

void MemberCaches::OnScope(const search::ScopePtr& before, const search::ScopePtr& after) {
  // The Secrets are asked for first: a mirror that begins needs them.
  access_.SetOtherSecrets(SecretsOf(*after));
  cache_->SetScope(CachedResourcesOf(*after));
  if (mirrors_ != nullptr) mirrors_->OnScope(*before, *after);
}

void MemberCaches::OnMemory(const base::MemoryUse& use) {
  if (memory_.Note(use)) cache_->RefuseUnread(memory_.MayGrow());
}

absl::Status MemberCaches::AllSynced() const {
  if (!scope_.HasSynced()) return absl::UnavailableError("the registries have not been read yet");
  const search::ScopePtr scope = scope_.Current();
  for (const auto& [cluster, part] : scope->clusters) {
    if (!part->ready) continue;
    for (const auto& [gvr, wanted] : part->resources) {
      const auto cache = cache_->Find(cluster, gvr);
      // A member that refuses a kind must not keep this server from being ready.
      if (cache != nullptr && (cache->HasSynced() || !cache->last_error().ok())) continue;
      return absl::UnavailableError(
          absl::StrCat(gvr.ToString(), " of cluster ", cluster, " has not been listed yet"));
    }
  }
  return absl::OkStatus();
}

void MemberCaches::Run(const std::function<void(const std::string& cluster)>& left,
                       const base::StopToken& stop) {
  access_.Run({.changed =
                   [this](const std::string& cluster) {
                     const absl::Status refreshed = members_.Refresh(cluster);
                     if (!refreshed.ok()) {
                       base::LogWarning("a member cannot be connected as its Cluster says",
                                        {{"cluster", cluster}, {"error", refreshed}});
                     }
                     // The new connection may succeed where the old one was in a back-off.
                     cache_->Retry(cluster);
                   },
               .left =
                   [this, &left](const std::string& cluster) {
                     members_.Remove(cluster);
                     left(cluster);
                   },
               .other_secret =
                   [this](const kube::ObjectKey& key) {
                     if (mirrors_ != nullptr) mirrors_->mirrors().ReloadCredentials(key);
                   }},
              stop);
}

}  // namespace cmd
