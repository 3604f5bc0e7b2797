// What stops a template, by the checks of lens/why, with what lists have shown.
#ifndef LENS_FLEET_JUDGE_H_
#define LENS_FLEET_JUDGE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lens/fleet/candidate.h"
#include "lens/fleet/fleet.h"
#include "lens/fleet/glance.h"
#include "lens/why/chain.h"

namespace lens::fleet {

// Events by what they are about: "Deployment shop/web".
using EventsByObject = std::map<std::string, why::Objects>;
// Returns that name of an event; an event about an object without a namespace has none in it.
std::string SubjectOf(const kube::Object& event);

// What is known of objects that templates need, by "ConfigMap shop/settings": whether they exist.
using Existence = std::map<std::string, bool>;

// Immutable once it is made.
class Judge {
 public:
  // `shared` has what all templates have in common: rules, policies of all namespaces, clusters,
  // ClusterOverridePolicies, leases, namespaces, and what could not be read. `overrides` and
  // `spaces` are the OverridePolicies and the Namespaces, by which one sees why members do not have
  // one. REQUIRES: `glance` outlives this object.
  Judge(why::Chain shared, const why::Objects& overrides, const why::Objects& spaces,
        const Glance& glance);

  // Returns what stops the template; nothing when it is fine. Members are not asked. Of what it
  // needs, what `existence` does not have counts as not known.
  std::optional<Trouble> Of(const Candidate& candidate, const EventsByObject& events,
                            const Existence& existence) const;

  // Returns the names of the objects whose events may say something about the template.
  static std::vector<std::string> SubjectsOf(const Candidate& candidate);

 private:
  // Returns the chain of the template with the policies that may govern it, or else with all of
  // them, for hints.
  why::Chain ChainOf(const Candidate& candidate, const EventsByObject& events,
                     const Existence& existence) const;
  // Returns the objects that belong to the template alone.
  why::Objects OwnObjects(const Candidate& candidate, const EventsByObject& events) const;

  why::Chain base_;  // The shared chain without policies.
  why::Objects all_policies_;
  std::map<std::string, why::Objects> policies_;   // By namespace; "" for those of the cluster.
  std::map<std::string, why::Objects> overrides_;  // By namespace.
  std::map<std::string, why::Objects> spaces_;     // By name, with their bindings.
  const Glance& glance_;
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_JUDGE_H_
