// Reads the webhooks of one object in their order. Every mistake is a problem of the object, in
// upstream's words; what a mistake means for the hook is decided separately: without a usable name
// it is dropped (its breaker and metrics go by the name), without a usable address or version it is
// kept as unusable, so that its questions fail with the reason instead of passing to another layer;
// a wrong timeout is corrected. No state.

#include "interpreter/webhook/configuration.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/webhook_configuration.h"
#include "interpreter/webhook/client_config.h"
#include "interpreter/webhook/problems.h"
#include "interpreter/webhook/rules.h"
#include "kube/meta/selector.h"

namespace interpreter::webhook {

namespace {

constexpr int64_t kShortestTimeout = 1;
constexpr int64_t kLongestTimeout = 30;
constexpr char kIgnore[] = "Ignore";

// What all webhooks of a configuration have in common.
struct Context {
  const api::WebhookConfigurationView& view;
  std::string name;  // The configuration's name.
  Dialect dialect;
};

// Checks a name as apimachinery's IsFullyQualifiedDomainName does.
void CheckName(absl::string_view name, const std::string& field, Problems& problems) {
  if (name.empty()) return problems.Required(field);
  const absl::string_view plain = absl::StripSuffix(name, ".");
  const absl::Status valid = kube::ValidateDns1123Subdomain(plain);
  if (!valid.ok()) return problems.Invalid(field, name, valid.message());
  if (!absl::StrContains(plain, '.')) {
    problems.Invalid(field, name,
                     "should be a domain with at least two segments separated by dots");
  }
}

absl::Duration ReadTimeout(const json::Value& seconds, const std::string& field,
                           Problems& problems) {
  if (seconds.is_null()) return Hook().timeout;
  const int64_t given = seconds.AsInt();
  const int64_t used = std::clamp(given, kShortestTimeout, kLongestTimeout);
  if (given != used) {
    problems.Invalid(field, seconds, "the timeout value must be between 1 and 30 seconds");
  }
  return absl::Seconds(used);
}

bool IsDns1035Label(absl::string_view text) {
  return kube::ValidateDns1123Label(text).ok() && absl::ascii_isalpha(text.front());
}

// Returns whether the webhook accepts a version that we send.
bool ReadVersions(const json::Value& versions, const std::string& field, Problems& problems) {
  const std::string required =
      absl::StrCat("must specify at least one of `", api::kWebhookMessageVersion, "`");
  if (versions.empty()) {
    problems.Required(field, required);
    return false;
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string version = versions.At(i).ToString();
    if (!seen.insert(version).second) problems.Duplicate(Item(field, i), version);
    if (!IsDns1035Label(version)) {
      problems.Invalid(Item(field, i), version, "a DNS-1035 label is required");
    }
  }
  if (seen.contains(api::kWebhookMessageVersion)) return true;
  problems.Invalid(field, versions,
                   absl::StrCat("must include at least one of ", api::kWebhookMessageVersion));
  return false;
}

bool ReadFailurePolicy(const json::Value& policy, const std::string& field, Problems& problems) {
  const std::vector<std::string> supported = {"Fail", kIgnore};
  const std::string given = policy.ToString(supported[0]);
  if (std::find(supported.begin(), supported.end(), given) == supported.end()) {
    problems.Unsupported(field, policy, supported);
  }
  return given == kIgnore;
}

absl::Status UnknownVersions(absl::string_view kind) {
  return absl::InvalidArgumentError(absl::StrCat("could not create ", kind,
                                                 " objects: webhook does not accept known ", kind,
                                                 " versions (", api::kWebhookMessageVersion, ")"));
}

Hook ReadHook(const Context& context, const api::WebhookView& webhook, const std::string& field,
              Problems& problems) {
  Hook hook;
  hook.uid = absl::StrCat(context.name, "/", webhook.Name());
  hook.configuration = context.name;
  hook.dialect = context.dialect;
  hook.rules = ReadRules(webhook.Rules(), context.dialect, Child(field, "rules"), problems);
  hook.timeout = ReadTimeout(webhook.TimeoutSeconds(), Child(field, "timeoutSeconds"), problems);
  if (context.dialect == Dialect::kExploreReview) {
    hook.ignores_failures =
        ReadFailurePolicy(webhook.FailurePolicy(), Child(field, "failurePolicy"), problems);
  }
  Problems of_client;
  hook.client = ReadClientConfig(webhook.ClientConfig(), Child(field, "clientConfig"), of_client);
  if (!of_client.empty()) {
    hook.unusable =
        absl::InvalidArgumentError(absl::StrCat("could not get REST client: ", of_client.Last()));
  }
  problems.Add(of_client);
  const absl::string_view versions = context.view.VersionsField();
  if (!ReadVersions(webhook.Field(versions), Child(field, versions), problems)) {
    hook.unusable = UnknownVersions(context.view.MessageKind());
  }
  return hook;
}

}  // namespace

Configuration ReadConfiguration(const kube::Object& object) {
  const api::WebhookConfigurationView view(object);
  Configuration out;
  out.name = std::string(object.name());
  out.dialect = view.IsExploring() ? Dialect::kExploreReview : Dialect::kInterpreterContext;
  Problems problems;
  std::set<std::string> names;
  const std::vector<api::WebhookView> webhooks = view.Webhooks();
  for (size_t i = 0; i < webhooks.size(); ++i) {
    const std::string field = Item("webhooks", i);
    const std::string name(webhooks[i].Name());
    CheckName(name, Child(field, "name"), problems);
    Hook hook = ReadHook({view, out.name, out.dialect}, webhooks[i], field, problems);
    if (!names.insert(name).second) {
      problems.Duplicate(Child(field, "name"), name);
    } else if (!name.empty()) {
      out.hooks.push_back(std::move(hook));
    }
  }
  out.problems = problems.Take();
  return out;
}

}  // namespace interpreter::webhook
