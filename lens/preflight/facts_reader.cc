// The kinds to look at are those of the program's own table, whatever else the server lists in
// their groups, and the kinds of templates whose shipped rules give other results than upstream's.
// A list of one object says in remainingItemCount how many there are, so that a control plane with
// a hundred thousand Works answers as fast as an empty one; a server that leaves the number out is
// asked for all objects. Bindings and policies are listed as well, by a few of their
// fields.

#include "lens/preflight/facts_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_resource.h"
#include "api/cluster.h"
#include "api/control_plane.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/status.h"
#include "config/served/served_release.h"
#include "kube/client/errors.h"
#include "lens/preflight/documented.h"
#include "works/passage.h"

namespace lens::preflight {
namespace {

constexpr int kOk = 200;

kube::Resource Definitions() {
  return {{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
          "customresourcedefinitions",
          false};
}

bool IsKnownGroup(absl::string_view group) {
  const auto kinds = config::Kinds();
  return std::any_of(kinds.begin(), kinds.end(),
                     [group](const config::KindSupport& kind) { return kind.group == group; });
}

bool IsKnown(const kube::Resource& resource) {
  const auto kinds = config::Kinds();
  const bool is_upstreams =
      std::any_of(kinds.begin(), kinds.end(), [&](const config::KindSupport& kind) {
        return kind.group == resource.gvk.group && kind.resource == resource.plural;
      });
  // This program's own kind, which upstream does not have.
  return is_upstreams || resource.gvr() == api::ExploringWebhookConfigurations().gvr();
}

class Reader {
 public:
  Reader(kube::Client& client, const kube::Discovery& discovery, const base::StopToken& stop)
      : client_(client),
        discovery_(discovery),
        stop_(stop),
        deadline_(client.clock().SteadyNow() + kPatience) {}

  absl::StatusOr<Facts> Read() {
    Facts facts;
    facts.kinds = KindsToLookAt();
    const bool may_be_control_plane =
        std::any_of(facts.kinds.begin(), facts.kinds.end(), [](const KindFacts& kind) {
          return api::IsControlPlaneGroup(kind.resource.gvk.group) &&
                 (!kind.served.empty() || !kind.discovery.ok());
        });
    if (!may_be_control_plane) return api::NoControlPlane(client_.name());
    facts.server = ServerVersion();
    facts.release = config::ServedRelease(client_).Ask(stop_);
    for (KindFacts& kind : facts.kinds) Fill(kind);
    facts.customizations = List(api::InterpreterCustomizations());
    facts.webhooks = List(api::InterpreterWebhookConfigurations());
    facts.clusters = List(api::Clusters());
    facts.read_at = client_.clock().Now();
    facts.agents = Agents(facts.clusters);
    facts.bindings = Bindings();
    facts.purge_modes = PurgeModes();
    return facts;
  }

 private:
  std::vector<KindFacts> KindsToLookAt() const {
    std::vector<KindFacts> kinds;
    for (const config::KindSupport& support : config::Kinds()) kinds.push_back(Known(support));
    for (const kube::ApiResource& served : discovery_.resources) {
      const kube::Resource& resource = served.resource;
      const bool concerns =
          IsKnownGroup(resource.gvk.group) || VisibleDifferenceOf(resource) != nullptr;
      if (!concerns || IsKnown(resource) || !served.HasVerbs({"list"})) continue;
      const bool is_there = std::any_of(kinds.begin(), kinds.end(), [&](const KindFacts& kind) {
        return kind.resource.gvk.group == resource.gvk.group &&
               kind.resource.plural == resource.plural;
      });
      if (is_there) continue;
      kinds.push_back({.resource = resource, .served = ServedVersions(resource)});
    }
    return kinds;
  }

  KindFacts Known(const config::KindSupport& support) const {
    KindFacts kind;
    kind.support = &support;
    kind.resource.gvk = {std::string(support.group), std::string(support.version),
                         std::string(support.kind)};
    kind.resource.plural = std::string(support.resource);
    kind.served = ServedVersions(kind.resource);
    const auto reads = std::find(kind.served.begin(), kind.served.end(), support.version);
    // A version that Karmada does not read is looked at all the same, to say what is there.
    if (reads == kind.served.end() && !kind.served.empty()) {
      kind.resource.gvk.version = kind.served.front();
    }
    if (!kind.served.empty()) return kind;
    for (const std::string& failed : discovery_.failed_groups) {
      if (!absl::StartsWith(failed, absl::StrCat(support.group, "/"))) continue;
      kind.discovery = absl::UnavailableError(
          absl::StrCat("the API server does not say what it serves of ", failed));
    }
    return kind;
  }

  // The preferred one first.
  std::vector<std::string> ServedVersions(const kube::Resource& resource) const {
    std::vector<std::string> versions;
    for (const kube::ApiResource& served : discovery_.resources) {
      const kube::Gvk& gvk = served.resource.gvk;
      if (gvk.group != resource.gvk.group || served.resource.plural != resource.plural) continue;
      versions.insert(served.preferred ? versions.begin() : versions.end(), gvk.version);
    }
    return versions;
  }

  std::string ServerVersion() {
    const auto answer = client_.GetRaw("/version", stop_);
    if (!answer.ok() || answer->code != kOk) return "";
    const auto document = json::Parse(answer->body);
    return document.ok() ? (*document)["gitVersion"].ToString() : "";
  }

  absl::Status CheckTime() const {
    if (client_.clock().SteadyNow() < deadline_) return absl::OkStatus();
    return absl::DeadlineExceededError(absl::StrCat(
        "not asked: the answers to earlier requests took ", absl::FormatDuration(kPatience)));
  }

  void Fill(KindFacts& kind) {
    if (kind.served.empty()) return;
    kind.count = Count(kind.resource);
    kind.stored = Stored(kind.resource);
    const VisibleDifference* visible = VisibleDifferenceOf(kind.resource);
    const bool is_used = kind.count.ok() && *kind.count > 0;
    if (!is_used || visible == nullptr || visible->concerns == nullptr) return;
    if (const auto concerned = CountConcerned(kind.resource, *visible); concerned.ok()) {
      kind.concerned = *concerned;
    } else {
      // Without the second number the first one would say too little.
      kind.count = concerned.status();
    }
  }

  absl::StatusOr<int64_t> CountConcerned(const kube::Resource& resource,
                                         const VisibleDifference& visible) {
    RETURN_IF_ERROR(CheckTime());
    kube::ListOptions options;
    options.fields.assign(std::begin(kFieldsOfConcern), std::end(kFieldsOfConcern));
    ASSIGN_OR_RETURN(const kube::ListPage page, client_.ListAll(resource, "", options, stop_));
    return std::count_if(page.items.begin(), page.items.end(), visible.concerns);
  }

  absl::StatusOr<int64_t> Count(const kube::Resource& resource) {
    RETURN_IF_ERROR(CheckTime());
    const std::string path =
        absl::StrCat("/apis/", resource.gvk.ApiVersion(), "/", resource.plural, "?limit=1");
    const auto answer = client_.GetRaw(path, stop_);
    RETURN_IF_ERROR(answer.status());
    const auto list = json::Parse(answer->body);
    const json::Value& metadata = list.ok() ? (*list)["metadata"] : json::Value();
    const bool is_whole = metadata["continue"].AsString().empty();
    if (answer->code == kOk && list.ok() && (is_whole || metadata.Has("remainingItemCount"))) {
      return static_cast<int64_t>((*list)["items"].size()) + metadata["remainingItemCount"].AsInt();
    }
    // Either the answer is an error, which this call puts into words, or it has no number.
    ASSIGN_OR_RETURN(const kube::ListPage page,
                     client_.ListAll(resource, "", {.fields = {"metadata.name"}}, stop_));
    return static_cast<int64_t>(page.items.size());
  }

  absl::StatusOr<std::vector<std::string>> Stored(const kube::Resource& resource) {
    RETURN_IF_ERROR(CheckTime());
    const std::string name = absl::StrCat(resource.plural, ".", resource.gvk.group);
    const absl::StatusOr<kube::Object> definition = client_.Get(Definitions(), {"", name}, stop_);
    std::vector<std::string> versions;
    if (kube::IsGone(definition.status())) return versions;
    RETURN_IF_ERROR(definition.status());
    for (const json::Value& version : definition->status()["storedVersions"].items()) {
      versions.push_back(version.ToString());
    }
    return versions;
  }

  // nullptr for a kind that is not served.
  const kube::Resource* Find(const kube::Gvk& gvk) const {
    const auto found =
        std::find_if(discovery_.resources.begin(), discovery_.resources.end(),
                     [&](const kube::ApiResource& served) { return served.resource.gvk == gvk; });
    return found == discovery_.resources.end() ? nullptr : &found->resource;
  }

  // Who may not read them does without.
  std::vector<kube::ObjectPtr> Agents(
      const absl::StatusOr<std::vector<kube::ObjectPtr>>& clusters) {
    std::vector<kube::ObjectPtr> leases;
    const std::vector<kube::ObjectPtr> all = clusters.value_or(leases);
    const bool any_pull = std::any_of(all.begin(), all.end(), [](const kube::ObjectPtr& cluster) {
      return api::ClusterView(*cluster).IsPull();
    });
    if (!any_pull || !CheckTime().ok()) return leases;
    absl::StatusOr<kube::ListPage> page =
        client_.ListAll(api::Leases(), api::kClusterNamespace, {}, stop_);
    if (!page.ok()) return leases;
    for (kube::Object& lease : page->items) leases.push_back(kube::Share(std::move(lease)));
    return leases;
  }

  absl::StatusOr<BindingFacts> Bindings() {
    BindingFacts facts;
    for (const kube::Resource& kind : {api::ResourceBindings(), api::ClusterResourceBindings()}) {
      ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> bindings, List(kind, BindingFields()));
      for (const kube::ObjectPtr& binding : bindings) {
        const kube::Resource* resource = Find(api::BindingView(*binding).Resource().gvk());
        if (!api::CheckBindingResource(*binding, resource).ok()) {
          facts.refused.push_back(binding->key().ToString());
        } else if (works::IsReleased(api::BindingView(*binding))) {
          facts.released.push_back(binding->key().ToString());
        }
      }
    }
    return facts;
  }

  // What api::CheckBindingResource and works::IsReleased read.
  static std::vector<std::string> BindingFields() {
    return {"metadata.name", "metadata.namespace", "metadata.labels", "spec.resource",
            "spec.requiredBy"};
  }

  absl::StatusOr<std::vector<OutdatedPurgeMode>> PurgeModes() {
    std::vector<OutdatedPurgeMode> outdated;
    for (const kube::Resource& kind :
         {api::PropagationPolicies(), api::ClusterPropagationPolicies()}) {
      ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> policies,
                       List(kind, {"metadata.name", "metadata.namespace", "spec.failover"}));
      for (const kube::ObjectPtr& policy : policies) {
        const absl::string_view mode = api::OutdatedPurgeMode(*policy);
        if (mode.empty()) continue;
        outdated.push_back(
            {absl::StrCat(kind.gvk.kind, " ", policy->key().ToString()), std::string(mode)});
      }
    }
    return outdated;
  }

  // A kind that is not served has no objects; its own row says that it is missing.
  absl::StatusOr<std::vector<kube::ObjectPtr>> List(const kube::Resource& resource,
                                                    std::vector<std::string> fields = {}) {
    std::vector<kube::ObjectPtr> objects;
    const std::vector<std::string> served = ServedVersions(resource);
    if (std::find(served.begin(), served.end(), resource.gvk.version) == served.end()) {
      return objects;
    }
    RETURN_IF_ERROR(CheckTime());
    ASSIGN_OR_RETURN(kube::ListPage page,
                     client_.ListAll(resource, "", {.fields = std::move(fields)}, stop_));
    for (kube::Object& object : page.items) objects.push_back(kube::Share(std::move(object)));
    return objects;
  }

  kube::Client& client_;
  const kube::Discovery& discovery_;
  const base::StopToken& stop_;
  const base::SteadyTime deadline_;
};

}  // namespace

absl::StatusOr<Facts> ReadFacts(kube::Client& client, const kube::Discovery& discovery,
                                const base::StopToken& stop) {
  return Reader(client, discovery, stop).Read();
}

}  // namespace lens::preflight
