// The interpreter as the configurations of a control plane make it, for questions that are asked
// from outside of the daemon.
#ifndef LENS_WHY_RULES_H_
#define LENS_WHY_RULES_H_

#include <memory>
#include <vector>

#include "interpreter/customized/customization_set.h"
#include "interpreter/interpreter.h"
#include "interpreter/webhook/hook_set.h"
#include "kube/meta/object.h"

namespace lens::why {

// Immutable; thread-safe as the interpreter is.
class Rules {
 public:
  // `configurations` are ResourceInterpreterCustomizations and webhook configurations of both
  // kinds; other objects are ignored. `merge`: as the daemon puts customizations together.
  explicit Rules(const std::vector<kube::ObjectPtr>& configurations,
                 const interpreter::customized::MergeOptions& merge = {});

  // Returns the rule that the daemon asks first; its layer is "" when there is none.
  interpreter::RuleName RuleFor(const kube::Gvk& gvk, interpreter::Operation op) const;
  // Returns whether a webhook answers. Webhooks are not called from here: they are usually
  // reachable from inside the control plane only, and a call may have effects.
  bool IsAnsweredByWebhook(const kube::Gvk& gvk, interpreter::Operation op) const;
  // Returns the webhook that is asked, whether or not a customization answers before it; nullptr
  // for none.
  const interpreter::webhook::Hook* HookFor(const kube::Gvk& gvk, interpreter::Operation op) const {
    return hooks_->Find(gvk, op);
  }
  // Returns all layers but the webhooks. Its answer is the daemon's unless IsAnsweredByWebhook.
  const interpreter::Interpreter& WithoutWebhooks() const { return *chain_; }

 private:
  std::unique_ptr<interpreter::Interpreter> chain_;
  std::unique_ptr<interpreter::webhook::HookSet> hooks_;
};

}  // namespace lens::why

#endif  // LENS_WHY_RULES_H_
