// Finds kinds that users' customizations name and the control plane does not serve: misspelt ones,
// and those whose definition is added later.
#ifndef INTERPRETER_LIVE_UNSERVED_TARGETS_H_
#define INTERPRETER_LIVE_UNSERVED_TARGETS_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"

namespace interpreter::live {

// Not thread-safe. This memory may be lost at any moment: then kinds are looked for again.
class UnservedTargets {
 public:
  // A kind is a problem when it has been missing for this time and in two looks: a definition that
  // is applied together with the customization is served a moment later.
  static constexpr absl::Duration kPatience = absl::Seconds(2);

  // REQUIRES: both outlive this object.
  UnservedTargets(kube::RestMapper& mapper, const base::Clock& clock)
      : mapper_(mapper), clock_(clock) {}

  // Looks for these kinds, which must be those of all customizations. Asks the server only when one
  // of them is not known. If that fails, everything stays as the last look has found it. Returns
  // whether the result of ProblemOf has changed for a kind. It takes as long as the server takes
  // for a discovery of all groups.
  bool Look(const std::set<kube::Gvk>& targets, const base::StopToken& stop);
  // Returns what is to be said about a customization whose spec.target, or whose given field, names
  // this kind; "" when the kind is served or may be.
  std::string ProblemOf(const kube::Gvk& target) const;
  std::string ProblemOf(const kube::Gvk& target, absl::string_view field) const;
  // Returns when to look again because a kind was missing and is not a problem yet;
  // base::SteadyTime::InfiniteFuture() when there is no such kind.
  base::SteadyTime NextLook() const { return next_look_; }

 private:
  struct Missing {
    base::SteadyTime since;
    // The end of the problem's text, which may be ""; nullopt until the patience is over.
    std::optional<std::string> problem;
  };

  // Asks the server about these kinds, which are all that are not known.
  void Judge(const std::set<kube::Gvk>& unknown, const base::StopToken& stop);
  void PlanNextLook();
  std::map<kube::Gvk, std::string> Problems() const;

  kube::RestMapper& mapper_;
  const base::Clock& clock_;
  std::map<kube::Gvk, Missing> missing_;
  base::SteadyTime next_look_ = base::SteadyTime::InfiniteFuture();
};

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_UNSERVED_TARGETS_H_
