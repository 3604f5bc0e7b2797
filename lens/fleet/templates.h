// Finds the templates of a control plane: what has a binding, and what should have one.
#ifndef LENS_FLEET_TEMPLATES_H_
#define LENS_FLEET_TEMPLATES_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/policy_selectors.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/fleet/candidate.h"
#include "lens/fleet/fleet.h"
#include "lens/fleet/glance.h"
#include "lens/fleet/lists.h"
#include "lens/why/chain.h"

namespace lens::fleet {

// Reads templates by lists of their kinds, few of a kind one by one. Used once, from one thread.
class Templates {
 public:
  // REQUIRES: all arguments outlive this object.
  Templates(const kube::Discovery& discovery, const Scope& scope, const why::Chain& shared,
            const Glance& glance, Lists& lists)
      : discovery_(discovery), scope_(scope), shared_(shared), glance_(glance), lists_(lists) {}

  // Returns those of the bindings, and objects without one that are workloads or that a policy
  // selects.
  std::vector<Candidate> Read(const why::Objects& bindings);

 private:
  std::set<kube::Gvk> KindsToList() const;
  void ReadOne(Candidate& candidate);
  void ListKind(const kube::Gvk& gvk);
  void TakeUnbound(const kube::Gvk& gvk, kube::Object object);
  bool IsSelected(const kube::Object& object);
  void NoteUnserved(const kube::Gvk& gvk);

  const kube::Discovery& discovery_;
  const Scope& scope_;
  const why::Chain& shared_;
  const Glance& glance_;
  Lists& lists_;
  std::vector<Candidate> candidates_;
  std::map<kube::Gvk, std::vector<size_t>> by_kind_;  // Candidates that have a binding.
  std::map<std::string, std::vector<api::PolicySelectors>> selectors_;  // By namespace.
  std::set<kube::Gvk> unserved_;
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_TEMPLATES_H_
