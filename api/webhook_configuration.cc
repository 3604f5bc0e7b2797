#include "api/webhook_configuration.h"

#include "api/resources.h"

namespace api {

bool WebhookConfigurationView::IsExploring() const {
  return object_.kind() == ExploringWebhookConfigurations().gvk.kind;
}

std::vector<WebhookView> WebhookConfigurationView::Webhooks() const {
  std::vector<WebhookView> webhooks;
  for (const json::Value& webhook : object_.root()["webhooks"].items()) {
    webhooks.emplace_back(webhook);
  }
  return webhooks;
}

}  // namespace api
