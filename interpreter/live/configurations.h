// Turns the configuration objects of the control plane into rules; each is parsed again only when
// it changes.
#ifndef INTERPRETER_LIVE_CONFIGURATIONS_H_
#define INTERPRETER_LIVE_CONFIGURATIONS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/stop_token.h"
#include "interpreter/customized/customization_set.h"
#include "interpreter/live/configuration_problems.h"
#include "interpreter/live/unknown_kinds.h"
#include "interpreter/live/unserved_targets.h"
#include "interpreter/webhook/configuration.h"
#include "interpreter/webhook/hook_set.h"
#include "kube/cache/informer.h"

namespace interpreter::live {

// Not thread-safe.
class Configurations {
 public:
  using Findings = std::vector<ConfigurationProblems::Finding>;

  // REQUIRES: all of them outlive this object and the sets that it returns.
  Configurations(kube::InformerSet& informers, UnknownKinds& unknown, UnservedTargets& unserved,
                 const customized::MergeOptions& merge)
      : informers_(informers), unknown_(unknown), unserved_(unserved), merge_(merge) {}

  // Return the rules in the caches now; a resource that is not watched counts as empty. A finding
  // for each object is appended to `findings`.
  std::shared_ptr<const customized::CustomizationSet> Customizations(Findings& findings);
  std::shared_ptr<const webhook::HookSet> Hooks(Findings& findings);
  // Looks for the kinds that the customizations of the last call name (UnservedTargets::Look).
  // Returns whether the next call has other findings.
  bool LookForTargets(const base::StopToken& stop);

 private:
  // The result of reading an object, and the version that the object had.
  template <class Read>
  struct Known {
    std::string version;
    Read read;
  };
  using Customization = std::shared_ptr<const customized::Customization>;
  // Returns the targets that the control plane should serve, by the field that names them.
  std::vector<std::pair<std::string, kube::Gvk>> NamedKinds(
      const customized::Customization& read) const;

  using WebhookKey = std::pair<std::string, std::string>;  // Kind and name.

  kube::InformerSet& informers_;
  UnknownKinds& unknown_;
  UnservedTargets& unserved_;
  const customized::MergeOptions merge_;
  std::map<std::string, Known<Customization>> customizations_;
  std::map<WebhookKey, Known<webhook::Configuration>> webhooks_;
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_CONFIGURATIONS_H_
