// Tables of what this program does of upstream's controllers, loops and kinds. They are the source
// of docs/support.md (a test compares them), of --controllers' warnings, and of the gates that a
// controller needs. The default of a kind's row is kHere. A row is changed when the behaviour
// changes, never only for the document.

#include "config/support.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/spelling.h"

namespace config {
namespace {

using enum State;

constexpr ControllerSupport kControllers[] = {
    {"agentcsrapproving", true, kHere},
    {"applicationFailover", true, kHere},
    {"binding", true, kHere},
    {"bindingStatus", true, kHere},
    {"cluster", true, kHere},
    {"clusterStatus", true, kHere},
    {"clustertaintpolicy", true, kHere, "only with the gate Failover", Gate::kFailover},
    {"cronFederatedHorizontalPodAutoscaler", true, kHere},
    {"deploymentReplicasSyncer", false, kHere},
    {"endpointSlice", true, kHere},
    {"endpointsliceCollect", true, kHere, "only with the gate MultiClusterService",
     Gate::kMultiClusterService},
    {"endpointsliceDispatch", true, kHere, "only with the gate MultiClusterService",
     Gate::kMultiClusterService},
    {"execution", true, kHere},
    {"federatedHorizontalPodAutoscaler", true, kHere},
    {"federatedResourceQuotaEnforcement", true, kHere,
     "only with the gate FederatedQuotaEnforcement", Gate::kFederatedQuotaEnforcement},
    {"federatedResourceQuotaStatus", true, kHere},
    {"federatedResourceQuotaSync", true, kHere},
    {"gracefulEviction", true, kHere},
    {"hpaScaleTargetMarker", false, kHere},
    {"multiclusterservice", true, kHere, "only with the gate MultiClusterService",
     Gate::kMultiClusterService},
    {"namespace", true, kHere},
    {"remedy", true, kHere},
    {"serviceExport", true, kHere},
    {"serviceImport", true, kHere},
    {"unifiedAuth", true, kHere},
    {"workStatus", true, kHere},
    {"workloadRebalancer", true, kHere},
};

constexpr ControllerSupport kAgentControllers[] = {
    {"certRotation", false, kHere,
     "the new certificate is used at once; upstream's agent goes on with the old one until it is "
     "started again"},
    {"clusterStatus", true, kHere, "also renews the cluster's Lease"},
    {"endpointsliceCollect", true, kHere, "only with the gate MultiClusterService",
     Gate::kMultiClusterService},
    {"execution", true, kHere},
    {"serviceExport", true, kHere},
    {"workStatus", true, kHere},
};

constexpr Support kLoopsWithoutSwitch[] = {
    {"resource detector", kHere},
    {"member clusters", kHere, "connections to the members, which all loops share"},
    {"dependencies distributor", kHere, "with the gate `PropagateDeps`"},
    {"taint manager", kHere, "with the controller `cluster` and the gate `Failover`"},
    {"Cluster API detector", kHere, "with `--cluster-api-kubeconfig`"},
};

constexpr KindSupport kKinds[] = {
    {"apps.karmada.io", "v1alpha1", "workloadrebalancers", "WorkloadRebalancer", kHere},
    {"autoscaling.karmada.io", "v1alpha1", "cronfederatedhpas", "CronFederatedHPA", kHere},
    {"autoscaling.karmada.io", "v1alpha1", "federatedhpas", "FederatedHPA", kHere},
    {"cluster.karmada.io", "v1alpha1", "clusters", "Cluster", kHere},
    {"config.karmada.io", "v1alpha1", "resourceinterpretercustomizations",
     "ResourceInterpreterCustomization", kHere},
    {"config.karmada.io", "v1alpha1", "resourceinterpreterwebhookconfigurations",
     "ResourceInterpreterWebhookConfiguration", kHere},
    {"multicluster.x-k8s.io", "v1alpha1", "serviceexports", "ServiceExport", kHere},
    {"multicluster.x-k8s.io", "v1alpha1", "serviceimports", "ServiceImport", kHere},
    {"networking.karmada.io", "v1alpha1", "multiclusteringresses", "MultiClusterIngress", kOutside,
     "a controller of its own reads them"},
    {"networking.karmada.io", "v1alpha1", "multiclusterservices", "MultiClusterService", kHere,
     "only with the gate MultiClusterService", Gate::kMultiClusterService},
    {"policy.karmada.io", "v1alpha1", "clusteroverridepolicies", "ClusterOverridePolicy", kHere},
    {"policy.karmada.io", "v1alpha1", "clusterpropagationpolicies", "ClusterPropagationPolicy"},
    {"policy.karmada.io", "v1alpha1", "clustertaintpolicies", "ClusterTaintPolicy", kHere},
    {"policy.karmada.io", "v1alpha1", "federatedresourcequotas", "FederatedResourceQuota", kHere},
    {"policy.karmada.io", "v1alpha1", "overridepolicies", "OverridePolicy", kHere},
    {"policy.karmada.io", "v1alpha1", "propagationpolicies", "PropagationPolicy"},
    {"remedy.karmada.io", "v1alpha1", "remedies", "Remedy", kHere},
    {"work.karmada.io", "v1alpha2", "clusterresourcebindings", "ClusterResourceBinding", kHere},
    {"work.karmada.io", "v1alpha2", "resourcebindings", "ResourceBinding", kHere},
    {"work.karmada.io", "v1alpha1", "works", "Work", kHere},
};

}  // namespace

absl::string_view StateText(State state) {
  switch (state) {
    case kHere:
      return "yes";
    case kFixed:
      return "fixed";
    case kNoSense:
      return "ignored";
    case kOutside:
      return "elsewhere";
  }
  return "";
}

namespace {

const ControllerSupport* FindIn(absl::Span<const ControllerSupport> controllers,
                                absl::string_view name) {
  const auto found = std::find_if(controllers.begin(), controllers.end(),
                                  [name](const ControllerSupport& c) { return c.name == name; });
  return found == controllers.end() ? nullptr : &*found;
}

std::vector<Warning> WarningsOf(const std::vector<std::string>& tokens,
                                absl::Span<const ControllerSupport> controllers) {
  std::vector<std::string> names;
  for (const ControllerSupport& c : controllers) names.emplace_back(c.name);
  const bool others_are_on = std::find(tokens.begin(), tokens.end(), "*") != tokens.end();
  std::vector<Warning> warnings;
  for (const std::string& token : tokens) {
    const std::string name(absl::StripPrefix(token, "-"));
    // An empty token is what a trailing comma leaves.
    if (token.empty() || token == "*" || FindIn(controllers, name) != nullptr) continue;
    warnings.push_back(
        {{"--controllers"},
         absl::StrCat(
             "--controllers: ", token, " has no effect: there is no controller \"", name, "\"",
             base::DidYouMean(name, names),
             others_are_on
                 ? ""
                 : "; the list has no \"*\", so only the controllers that it names are on")});
  }
  return warnings;
}

}  // namespace

absl::Span<const ControllerSupport> Controllers() { return kControllers; }
absl::Span<const ControllerSupport> AgentControllers() { return kAgentControllers; }
const ControllerSupport* FindController(absl::string_view name) {
  return FindIn(kControllers, name);
}
const ControllerSupport* FindAgentController(absl::string_view name) {
  return FindIn(kAgentControllers, name);
}
absl::Span<const Support> LoopsWithoutSwitch() { return kLoopsWithoutSwitch; }
absl::Span<const KindSupport> Kinds() { return kKinds; }

std::vector<Warning> WarningsOfControllers(const std::vector<std::string>& tokens) {
  return WarningsOf(tokens, kControllers);
}

std::vector<Warning> WarningsOfAgentControllers(const std::vector<std::string>& tokens) {
  return WarningsOf(tokens, kAgentControllers);
}

}  // namespace config
