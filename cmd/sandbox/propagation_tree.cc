// Reads what the control plane and the members have of one Deployment, and draws it as a tree:
// template, policy, binding, a Work for each cluster and the object in it. The objects are read one
// after the other, so the tree may show two moments.

#include "cmd/sandbox/propagation_tree.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/meta/selector.h"

namespace cmd {
namespace {

const kube::Gvr& Deployments() {
  static const auto& gvr = *new kube::Gvr{"apps", "v1", "deployments"};
  return gvr;
}

// Returns the conditions of these types that are true, and those that are not.
std::string Conditions(const kube::Object& object, std::initializer_list<const char*> types,
                       const tool::Colours& colours) {
  std::string out;
  for (const char* type : types) {
    const bool good = kube::IsConditionTrue(object.status()["conditions"], type);
    absl::StrAppend(&out, out.empty() ? "" : ", ",
                    good ? colours.Green(type) : colours.Yellow(absl::StrCat("not ", type)));
  }
  return out;
}

std::string Health(const kube::Object& work, const tool::Colours& colours) {
  const std::string health = work.status()["manifestStatuses"].At(0)["health"].ToString();
  if (health.empty()) return "";
  return absl::StrCat(", ",
                      health == api::kHealthy ? colours.Green(health) : colours.Yellow(health));
}

absl::StatusOr<tool::TreeNode> WorkNode(sandbox::Fleet& fleet, const kube::Object& work,
                                        const kube::ObjectKey& deployment,
                                        const tool::Colours& colours) {
  tool::TreeNode node{
      absl::StrCat(work.Describe(), "  ", Conditions(work, {api::kWorkApplied}, colours),
                   Health(work, colours)),
      {}};
  ASSIGN_OR_RETURN(const std::string cluster, api::ClusterOfExecutionNamespace(work.ns()));
  sandbox::ApiServer* member = fleet.member(cluster);
  if (member == nullptr) return absl::NotFoundError(absl::StrCat("no member ", cluster));
  const auto object = member->backend().Get(Deployments(), deployment);
  const std::string name = colours.Bold(cluster);
  node.children.push_back({object.ok() ? absl::StrCat(name, ": ", (*object)->Describe(), "  ",
                                                      colours.Green(ReadyCount(**object)))
                                       : absl::StrCat(name, ": ", colours.Yellow("not there")),
                           {}});
  return node;
}

}  // namespace

std::string ReadyCount(const kube::Object& deployment) {
  return absl::StrCat(deployment.status()["readyReplicas"].AsInt(), "/",
                      deployment.spec()["replicas"].AsInt(1), " ready");
}

absl::StatusOr<std::vector<kube::ObjectPtr>> WorksOf(sandbox::Fleet& fleet,
                                                     const kube::Object& binding) {
  const absl::string_view id = api::BindingView(binding).PermanentId();
  return fleet.control_plane().backend().List(
      api::Works().gvr(), "", kube::LabelSelector::Equal(api::kResourceBindingIdLabel, id));
}

absl::StatusOr<tool::TreeNode> PropagationTree(sandbox::Fleet& fleet,
                                               const kube::ObjectKey& deployment,
                                               const tool::Colours& colours) {
  sandbox::Backend& karmada = fleet.control_plane().backend();
  ASSIGN_OR_RETURN(const kube::ObjectPtr object, karmada.Get(Deployments(), deployment));
  const api::BindingAddress at = api::BindingOf("Deployment", deployment);
  ASSIGN_OR_RETURN(const kube::ObjectPtr binding, karmada.Get(at.resource.gvr(), at.key));
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> works, WorksOf(fleet, *binding));
  tool::TreeNode binding_node{
      absl::StrCat(
          binding->Describe(), "  ",
          Conditions(*binding, {api::kBindingScheduled, api::kBindingFullyApplied}, colours)),
      {}};
  for (const kube::ObjectPtr& work : works) {
    ASSIGN_OR_RETURN(tool::TreeNode node, WorkNode(fleet, *work, deployment, colours));
    binding_node.children.push_back(std::move(node));
  }
  const kube::ObjectKey policy = api::policy_scope::Namespaced::ClaimOn(*object);
  tool::TreeNode policy_node{absl::StrCat("PropagationPolicy ", policy.ToString()), {}};
  policy_node.children.push_back(std::move(binding_node));
  tool::TreeNode root{
      absl::StrCat(colours.Bold(object->Describe()), "  ", colours.Green(ReadyCount(*object))), {}};
  root.children.push_back(std::move(policy_node));
  return root;
}

}  // namespace cmd
