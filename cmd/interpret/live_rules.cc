#include "cmd/interpret/live_rules.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "interpreter/webhook/configuration.h"
#include "kube/client/errors.h"

namespace cmd::interpret {
namespace {

absl::StatusOr<std::vector<kube::Object>> ListAll(tool::LiveConnection& live,
                                                  const kube::Resource& resource) {
  auto page = live.client.ListAll(resource, "", {}, base::StopToken());
  if (!page.ok()) return base::Annotate(page.status(), "listing ", resource.plural);
  return std::move(page->items);
}

interpreter::webhook::ResourceLookup LookUpIn(const kube::Discovery& discovery) {
  std::map<kube::Gvk, kube::Resource> served;
  for (const kube::ApiResource& found : discovery.resources) {
    served.emplace(found.resource.gvk, found.resource);
  }
  return [served = std::move(served)](const kube::Gvk& gvk) -> std::optional<kube::Resource> {
    const auto found = served.find(gvk);
    if (found == served.end()) return std::nullopt;
    return found->second;
  };
}

// Adds the configurations of one kind and their hooks.
void AddConfigurations(tool::LiveConnection& live, const kube::Resource& resource, LiveRules& rules,
                       std::vector<interpreter::webhook::Hook>& hooks) {
  if (!FindKind(live.discovery, resource.gvk).has_value()) return;
  absl::StatusOr<std::vector<kube::Object>> objects = ListAll(live, resource);
  if (!objects.ok()) {
    rules.unread.push_back(absl::StrCat(objects.status().message(),
                                        "; rules of such webhooks are not taken into account"));
    return;
  }
  for (kube::Object& object : *objects) {
    interpreter::webhook::Configuration read = interpreter::webhook::ReadConfiguration(object);
    for (const std::string& problem : read.problems) {
      rules.webhooks.problems.push_back(absl::StrCat(object.Describe(), ": ", problem));
    }
    for (interpreter::webhook::Hook& hook : read.hooks) hooks.push_back(std::move(hook));
    rules.configurations.push_back(std::move(object));
  }
}

}  // namespace

std::optional<kube::Resource> FindKind(const kube::Discovery& discovery, const kube::Gvk& gvk) {
  for (const kube::ApiResource& found : discovery.resources) {
    if (found.resource.gvk == gvk) return found.resource;
  }
  return std::nullopt;
}

absl::StatusOr<LiveRules> ReadLiveRules(tool::LiveConnection& live) {
  LiveRules rules;
  if (!FindKind(live.discovery, api::InterpreterCustomizations().gvk).has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(kube::WithoutUserInfo(live.config.server), " does not serve ",
                     api::InterpreterCustomizations().gvk.ApiVersion(),
                     ": is it the API server of a Karmada control plane?"));
  }
  ASSIGN_OR_RETURN(rules.customizations, ListAll(live, api::InterpreterCustomizations()));
  std::vector<interpreter::webhook::Hook> hooks;
  AddConfigurations(live, api::InterpreterWebhookConfigurations(), rules, hooks);
  AddConfigurations(live, api::ExploringWebhookConfigurations(), rules, hooks);
  rules.webhooks.hooks = std::make_shared<const interpreter::webhook::HookSet>(
      std::move(hooks), LookUpIn(live.discovery));
  return rules;
}

}  // namespace cmd::interpret
