// The rules of a control plane, as they are or as they would be, asked from outside the control
// plane.
#ifndef CMD_INTERPRET_RULE_SIDE_H_
#define CMD_INTERPRET_RULE_SIDE_H_

#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "cmd/interpret/question_json.h"
#include "cmd/interpret/webhooks.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"

namespace cmd::interpret {

// What loops would get.
struct SideAnswer {
  json::Value value;  // For AggregateStatus only the status.
  std::string error;  // "" when there is none. An answer with an error has no value.
  std::string rule;   // "customization widgets"; "" when no layer has a rule.
  // Why the answer can only be had inside the control plane, or not now; "" when it was had.
  std::string unknown;

  friend bool operator==(const SideAnswer& a, const SideAnswer& b) {
    return a.value == b.value && a.error == b.error;
  }
};

// Not thread-safe.
class RuleSide {
 public:
  // `hooks.hooks` may contain hooks behind Services: questions to them have an unknown answer.
  RuleSide(std::shared_ptr<const interpreter::customized::CustomizationSet> customizations,
           const Webhooks& hooks);
  RuleSide(const RuleSide&) = delete;

  SideAnswer Ask(const interpreter::Question& question);

 private:
  // Returns why the hook that has to answer cannot be called from here; "" if it can, or if another
  // layer answers.
  std::string WhyUnknown(const interpreter::Question& question,
                         const interpreter::RuleName& rule) const;

  const std::shared_ptr<const interpreter::webhook::HookSet> hooks_;
  std::unique_ptr<interpreter::Interpreter> chain_;
  std::optional<std::string> failed_hook_;  // A text, after a call that failed.
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_RULE_SIDE_H_
