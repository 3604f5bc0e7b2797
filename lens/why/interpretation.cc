#include "lens/why/interpretation.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "interpreter/webhook/hook.h"

namespace lens::why {
namespace {

using interpreter::Operation;
using interpreter::webhook::Hook;

// Returns "https://hooks.example.com:8443/web", or "the Service shop/hook".
std::string AddressOf(const Hook& hook) {
  if (hook.client.service.has_value()) {
    return absl::StrCat("the Service ", hook.client.service->ns, "/", hook.client.service->name);
  }
  return absl::StrCat(hook.client.server, hook.client.path);
}

// Returns "ResourceInterpreterWebhookConfiguration hooks".
std::string ConfigurationOf(const Hook& hook) {
  const bool explores = hook.dialect == interpreter::webhook::Dialect::kExploreReview;
  return absl::StrCat(explores ? "ResourceExploringWebhookConfiguration "
                               : "ResourceInterpreterWebhookConfiguration ",
                      hook.configuration);
}

bool HasAny(absl::string_view message, std::initializer_list<absl::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](absl::string_view word) { return absl::StrContains(message, word); });
}

}  // namespace

std::string AdviceForWebhook(const Chain& chain, Operation op, absl::string_view message) {
  const Hook* hook = chain.rules->HookFor(chain.asked.gvk, op);
  if (hook == nullptr) return "see whether the webhook's server runs and what it logs";
  const std::string at = AddressOf(*hook);
  const std::string in = ConfigurationOf(*hook);
  if (!hook->unusable.ok()) return absl::StrCat("mend ", in, " as the message says");
  if (HasAny(message, {"certificate"})) {
    return absl::StrCat("put the authority that signed the certificate of ", at,
                        " into clientConfig.caBundle of ", in);
  }
  if (HasAny(message, {"get status code: "})) {
    return "mend the template as the message says, or the webhook that refuses it";
  }
  if (HasAny(message, {"the body is not", "response was absent", "0-length response",
                       "could not find the requested resource", "redirects are not followed"})) {
    return absl::StrCat("something else than the webhook's server answers at ", at,
                        ", such as a proxy; mend clientConfig of ", in);
  }
  if (HasAny(message, {"invalid webhook response"})) {
    return absl::StrCat("mend the webhook's server at ", at);
  }
  return absl::StrCat(
      "see whether the webhook's server runs at ", at, " and what it logs",
      HasAny(message, {" (the webhook has "}) ? ", or give it more time (timeoutSeconds)" : "",
      "; or correct or delete ", in, ", after which the next rule answers");
}

std::string AdviceForInterpreter(const Chain& chain, absl::string_view message,
                                 absl::string_view otherwise) {
  const auto* const op = std::find_if(
      std::begin(interpreter::kAllOperations), std::end(interpreter::kAllOperations),
      [&](Operation each) {
        return absl::StrContains(message, absl::StrCat(interpreter::OperationName(each), " of "));
      });
  if (op == std::end(interpreter::kAllOperations)) return std::string(otherwise);
  if (absl::StrContains(message, "by the webhook interpreter")) {
    return AdviceForWebhook(chain, *op, message);
  }
  if (!absl::StrContains(message, "by the customization interpreter")) {
    return std::string(otherwise);
  }
  return absl::StrCat("mend the script; karmada-interpret run --operation ",
                      interpreter::OperationName(*op), " shows the error, too");
}

}  // namespace lens::why
