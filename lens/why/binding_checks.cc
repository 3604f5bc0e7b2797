// Checks of the binding: its name, its owner, and what the interpreter says about the template.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/policy.h"
#include "api/reasons.h"
#include "lens/why/checks.h"
#include "lens/why/expected.h"
#include "lens/why/interpretation.h"
#include "lens/why/matching.h"
#include "lens/why/own_deletions.h"

namespace lens::why {
namespace {

using interpreter::Operation;

constexpr Step kStep = Step::kBinding;
constexpr size_t kLongestName = 253;  // What an API server accepts as metadata.name.

// Returns whether the policy does not act on the template for now, as a check of it says.
bool PolicyWaits(const Chain& chain) {
  std::string claim;
  const kube::ObjectPtr policy = ClaimingPolicy(chain, *chain.object, &claim);
  return (policy != nullptr && api::PolicyView(*policy).IsLazy()) ||
         MissingOverride(chain).policy != nullptr;
}

bool IsClaimed(const Chain& chain) {
  std::string claim;
  return chain.object != nullptr && ClaimingPolicy(chain, *chain.object, &claim) != nullptr;
}

Findings NameIsTooLong(const Chain& chain) {
  if (chain.object == nullptr || (Matches(chain).empty() && !IsClaimed(chain))) return {};
  const std::string name = api::BindingName(chain.asked.gvk.kind, chain.asked.key.name);
  const std::string work =
      api::WorkName(chain.asked.gvk.kind, chain.asked.key.name, chain.asked.key.ns);
  const bool binding = name.size() > kLongestName;
  if (!binding && work.size() <= kLongestName) return {};
  return {
      {kStep, Grade::kStuck,
       absl::StrCat("the name of ", chain.asked.gvk.kind, " ", chain.asked.key.name.substr(0, 40),
                    "... is too long: the name of its ", binding ? "binding" : "Work",
                    " would have ", binding ? name.size() : work.size(), " characters, and ",
                    kLongestName, " are allowed"),
       absl::StrCat("create it again with a name that is shorter by ",
                    (binding ? name.size() : work.size()) - kLongestName, " characters")}};
}

// Returns "the interpreter's customization web-rules".
std::string Answerer(const Chain& chain, Operation op) {
  const interpreter::RuleName rule = chain.rules->RuleFor(chain.asked.gvk, op);
  if (rule.layer.empty()) return "the interpreter";
  const bool shipped = rule.layer == interpreter::kShippedLayer;
  return absl::StrCat("the interpreter's ", shipped ? "shipped customization" : rule.layer, " ",
                      rule.name);
}

Findings CannotBeInterpreted(const Chain& chain, Operation op, const std::string& error,
                             absl::string_view what) {
  const bool webhook = chain.rules->IsAnsweredByWebhook(chain.asked.gvk, op);
  return {{kStep, Grade::kStuck,
           absl::StrCat(Answerer(chain, op), " cannot ", what, " ", chain.Name(), ": ", error),
           webhook ? AdviceForWebhook(chain, op, error)
                   : absl::StrCat("mend the script; karmada-interpret run --operation ",
                                  interpreter::OperationName(op), " shows the error, too")}};
}

// Reports the daemon's last failure when a webhook answers, else asks the same rules as the daemon.
Findings ReplicasCannotBeCounted(const Chain& chain) {
  constexpr Operation kOp = Operation::kInterpretReplica;
  if (chain.object == nullptr || (Matches(chain).empty() && !IsClaimed(chain))) return {};
  if (chain.rules->IsAnsweredByWebhook(chain.asked.gvk, kOp)) {
    const std::string failed = StandingFailure(
        chain, *chain.object, api::reason::kGetReplicasFailed, api::reason::kGetReplicasSucceed);
    if (failed.empty()) return {};
    return CannotBeInterpreted(chain, kOp, failed, "count the replicas of");
  }
  const interpreter::Interpreter& interpreter = chain.rules->WithoutWebhooks();
  if (!interpreter.HasRule(chain.asked.gvk, kOp) || !CouldReadRules(chain)) return {};
  const absl::Status asked = interpreter.GetReplicas(*chain.object).status();
  if (asked.ok()) return {};
  return CannotBeInterpreted(chain, kOp, std::string(asked.message()), "count the replicas of");
}

Findings ComponentsCannotBeCounted(const Chain& chain) {
  if (chain.object == nullptr) return {};
  const std::string failed = StandingFailure(
      chain, *chain.object, api::reason::kGetComponentsFailed, api::reason::kGetComponentsSucceed);
  if (failed.empty()) return {};
  return CannotBeInterpreted(chain, Operation::kInterpretComponent, failed,
                             "find the components of");
}

// The daemon's own words come after what is concluded from the same rules, which says more.
Findings PolicyCouldNotBeApplied(const Chain& chain) {
  if (chain.object == nullptr) return {};
  const std::string message = StandingFailure(chain, *chain.object, api::reason::kApplyPolicyFailed,
                                              api::reason::kApplyPolicySucceed);
  if (message.empty()) return {};
  return {{Step::kPolicy, Grade::kStuck,
           absl::StrCat("the policy cannot be applied to ", chain.Name(), ": ", message),
           AdviceForInterpreter(chain, message, AdviceForRefusal(message))}};
}

Findings BindingBelongsToAnother(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr || chain.OwnsBinding()) return {};
  const kube::OwnerRef owner = chain.binding->ControllerOwner();
  const kube::Object& object = *chain.object;
  const bool is_earlier = owner.api_version == object.api_version() &&
                          owner.kind == object.kind() && owner.name == object.name();
  if (is_earlier) {
    return {{kStep, Grade::kStuck,
             absl::StrCat(chain.binding->Describe(), " belongs to an earlier ", chain.Name(),
                          " that was deleted and is still being collected"),
             "see what keeps the garbage collector from deleting the binding"}};
  }
  Finding finding{
      kStep, Grade::kStuck,
      absl::StrCat(chain.binding->Describe(), " belongs to ", owner.api_version, " ", owner.kind,
                   " ", owner.name, ", whose binding has the same name as that of ",
                   object.api_version(), " ", chain.Name())};
  finding.advice = AdviceForRefusal(finding.cause);
  return {std::move(finding)};
}

Findings BindingIsBeingDeleted(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr || !chain.binding->IsDeleting()) {
    return {};
  }
  const Holders holders = HoldersOf(*chain.binding);
  Finding finding{kStep, Grade::kStuck,
                  absl::StrCat(chain.binding->Describe(), " is being deleted and waits for ",
                               ItsFinalizers(*chain.binding), " ", holders.text),
                  "it is made again when it is gone"};
  if (holders.has_karmadas || holders.foreign.empty()) {
    finding.waits_for = Program::kControllerManager;
    absl::StrAppend(&finding.advice, "; see whether the clusters can be reached");
  }
  if (!holders.foreign.empty()) {
    absl::StrAppend(&finding.advice, holders.has_karmadas ? "; and " : "; ", holders.advice);
  }
  return {std::move(finding)};
}

Findings BindingHasNoId(const Chain& chain) {
  if (chain.binding == nullptr || chain.binding->IsDeleting()) return {};
  if (!api::BindingView(*chain.binding).PermanentId().empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.binding->Describe(),
                        " has no permanent id, so its Works cannot be found; karmada-webhook sets "
                        "it when a binding is created"),
           "see whether karmada-webhook runs, then delete the binding: it is made again"}};
}

Findings NoBindingYet(const Chain& chain) {
  if (chain.binding != nullptr || !IsClaimed(chain) || chain.object->IsDeleting()) return {};
  if (!chain.CouldReadBinding() || PolicyWaits(chain)) return {};
  return {{kStep,
           Grade::kWaiting,
           absl::StrCat(chain.Name(),
                        " is claimed, but karmada-controller-manager has not made its "
                        "binding yet"),
           kWaitAMoment,
           "",
           {},
           Program::kControllerManager}};
}

// Returns how the binding differs from what the interpreter says about the template's pods; "" when
// it does not, or nobody here can tell: what the detector does depends on gates where a kind has
// components.
std::string OutdatedDemand(const Chain& chain) {
  constexpr Operation kOp = Operation::kInterpretReplica;
  const interpreter::Interpreter& interpreter = chain.rules->WithoutWebhooks();
  const json::Value& spec = chain.binding->spec();
  if (chain.rules->IsAnsweredByWebhook(chain.asked.gvk, kOp) || !CouldReadRules(chain)) return "";
  if (!interpreter.HasRule(chain.asked.gvk, kOp) || spec.Has("components")) return "";
  const auto replicas = interpreter.GetReplicas(*chain.object);
  const int64_t recorded = spec["replicas"].AsInt();
  if (!replicas.ok() || replicas->replicas == recorded) return "";
  return absl::StrCat("records ", recorded, recorded == 1 ? " replica" : " replicas",
                      " of the template, which has ", replicas->replicas, " by now");
}

// Compares what the detector copies from the policy and from the template.
Findings BindingIsBehind(const Chain& chain) {
  std::string claim;
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  const kube::ObjectPtr policy = ClaimingPolicy(chain, *chain.object, &claim);
  if (policy == nullptr || chain.object->IsDeleting() || !chain.OwnsBinding()) return {};
  const std::vector<std::string> fields = FieldsBehind(*chain.object, *chain.binding, *policy);
  if (!fields.empty() && PolicyWaits(chain)) return {};
  const std::string behind =
      fields.empty() ? OutdatedDemand(chain)
                     : absl::StrCat("does not have the ", absl::StrJoin(fields, " and "), " of ",
                                    claim, " yet");
  if (behind.empty()) return {};
  return {{kStep,
           Grade::kWaiting,
           absl::StrCat(chain.binding->Describe(), " ", behind),
           kWaitAMoment,
           "",
           {},
           Program::kControllerManager}};
}

constexpr Check kChecks[] = {
    {"name-too-long", "Can the binding have its name?", "its name is too long:", NameIsTooLong},
    {"replicas-not-counted", "Does the interpreter count its replicas?",
     "its replicas cannot be counted:", ReplicasCannotBeCounted},
    {"components-not-counted", "Does the interpreter find its components?",
     "its components cannot be found:", ComponentsCannotBeCounted},
    {"binding-of-another", "Is the binding the template's own?",
     "its binding belongs to another object:", BindingBelongsToAnother},
    {"policy-not-applied", "Did applying the policy fail?",
     "its policy cannot be applied:", PolicyCouldNotBeApplied},
    {"binding-deleting", "Is the binding being deleted?",
     "its binding is being deleted:", BindingIsBeingDeleted},
    {"binding-without-id", "Does the binding have its id?", "its binding has no permanent id",
     BindingHasNoId},
    {"no-binding", "Is there a binding?", "its binding has not been made yet", NoBindingYet},
    {"binding-behind", "Does the binding say what policy and template say?",
     "its binding is out of date:", BindingIsBehind},
};

}  // namespace

absl::Span<const Check> BindingChecks() { return kChecks; }

}  // namespace lens::why
