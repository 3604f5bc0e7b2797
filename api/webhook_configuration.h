// Configurations of interpreter webhooks (config.karmada.io/v1alpha1), and the names of the
// messages that are exchanged with them.
#ifndef API_WEBHOOK_CONFIGURATION_H_
#define API_WEBHOOK_CONFIGURATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// The apiVersion of the configurations and of the messages.
inline constexpr char kConfigApiVersion[] = "config.karmada.io/v1alpha1";
// The only version of messages, as configurations name it.
inline constexpr char kWebhookMessageVersion[] = "v1alpha1";
inline constexpr char kInterpreterContextKind[] = "ResourceInterpreterContext";
inline constexpr char kExploreReviewKind[] = "ExploreReview";

// Reads one entry of `webhooks`, of either kind of configuration. Raw values are for validation.
// The value must outlive the view and stay unchanged.
class WebhookView {
 public:
  explicit WebhookView(const json::Value& webhook) : webhook_(webhook) {}

  absl::string_view Name() const { return webhook_["name"].AsString(); }
  const json::Value& ClientConfig() const { return webhook_["clientConfig"]; }
  absl::Span<const json::Value> Rules() const { return webhook_["rules"].items(); }
  const json::Value& TimeoutSeconds() const { return webhook_["timeoutSeconds"]; }
  // "Fail" or "Ignore"; only exploring webhooks have one.
  const json::Value& FailurePolicy() const { return webhook_["failurePolicy"]; }
  const json::Value& Field(absl::string_view name) const { return webhook_[name]; }

 private:
  const json::Value& webhook_;
};

// Reads a ResourceInterpreterWebhookConfiguration or a ResourceExploringWebhookConfiguration. The
// object must outlive the view and stay unchanged.
class WebhookConfigurationView {
 public:
  explicit WebhookConfigurationView(const kube::Object& object) : object_(object) {}
  explicit WebhookConfigurationView(kube::Object&&) = delete;

  // Returns whether it is a ResourceExploringWebhookConfiguration.
  bool IsExploring() const;
  std::vector<WebhookView> Webhooks() const;
  // Returns the field in which a webhook of this kind lists the message versions it accepts.
  absl::string_view VersionsField() const {
    return IsExploring() ? "exploreReviewVersions" : "interpreterContextVersions";
  }
  // Returns the kind of the messages that its webhooks understand.
  absl::string_view MessageKind() const {
    return IsExploring() ? kExploreReviewKind : kInterpreterContextKind;
  }

 private:
  const kube::Object& object_;
};

}  // namespace api

#endif  // API_WEBHOOK_CONFIGURATION_H_
