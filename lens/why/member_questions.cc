#include "lens/why/member_questions.h"

#include <string>
#include <utility>
#include <vector>

#include "api/cluster.h"
#include "api/work.h"
#include "lens/why/member_reader.h"
#include "lens/why/pods.h"
#include "lens/why/questions.h"

namespace lens::why {
namespace {

constexpr size_t kMostClusters = 10;  // The first ones stand for all.
constexpr size_t kMostNeeds = 20;
constexpr size_t kMostOthers = 16;  // Clusters of a control plane of which all are asked.

}  // namespace

void AskOthers(const Asking& asking, const kube::Resource& resource, Chain& chain) {
  if (chain.object == nullptr || chain.clusters.size() > kMostOthers) return;
  MemberQuestion question{resource, chain.asked.key, {}};
  for (const auto& [name, cluster] : chain.clusters) {
    if (chain.members.count(name) > 0 || !chain.Concerns(name)) continue;
    if (api::ClusterView(*cluster).IsReady()) question.clusters.push_back(cluster);
  }
  for (auto& [name, answer] :
       AskMembers(question, asking.control_plane, asking.secrets, asking.stop)) {
    if (answer.status.ok() && answer.object != nullptr) chain.members[name] = answer;
  }
}

void AskForNeeds(const Asking& asking, Chain& chain) {
  Objects clusters;
  for (const auto& [name, work] : chain.works) {
    const auto cluster = chain.clusters.find(name);
    const auto answer = chain.members.find(name);
    const bool answers = answer != chain.members.end() && answer->second.object != nullptr;
    if (!answers || cluster == chain.clusters.end() || !chain.Concerns(name)) continue;
    if (HealthIn(chain, *work) == api::kUnhealthy) clusters.push_back(cluster->second);
    if (clusters.size() == kMostClusters) break;
  }
  if (clusters.empty() || chain.object == nullptr) return;
  std::vector<api::DependentReference> needs = NeedsOfMembers(*chain.object);
  needs.insert(needs.begin(), chain.needed.begin(), chain.needed.end());
  if (needs.size() > kMostNeeds) needs.resize(kMostNeeds);
  for (const api::DependentReference& need : needs) {
    const kube::Resource* resource = ServedAs(asking.discovery, need.gvk());
    if (resource == nullptr || need.name.empty()) continue;
    const MemberQuestion question{
        *resource, {resource->namespaced ? need.ns : "", need.name}, clusters};
    for (auto& [name, answer] :
         AskMembers(question, asking.control_plane, asking.secrets, asking.stop)) {
      if (answer.status.ok() && answer.object == nullptr) chain.lacking[name].push_back(need);
    }
  }
}

void AskForPods(const Asking& asking, Chain& chain) {
  std::vector<PodQuestion> questions;
  for (const auto& [name, work] : chain.works) {
    const auto cluster = chain.clusters.find(name);
    if (cluster == chain.clusters.end() || !chain.Concerns(name)) continue;
    if (!ArePodsOfInterest(chain, name, *work)) continue;
    std::string selector = PodSelectorOf(*chain.members[name].object);
    if (selector.empty() || questions.size() == kMostClusters) continue;
    questions.push_back({cluster->second, chain.asked.key.ns, std::move(selector)});
  }
  if (questions.empty()) return;
  chain.pods = AskMembersForPods(questions, asking.control_plane, asking.secrets, asking.stop);
}

}  // namespace lens::why
