// Works that are being deleted and whose binding has gone: what they bring has not left its
// cluster, although its template is no more.
#ifndef LENS_FLEET_LEFTOVERS_H_
#define LENS_FLEET_LEFTOVERS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/fleet/candidate.h"
#include "lens/fleet/fleet.h"
#include "lens/fleet/lists.h"
#include "lens/why/chain.h"

namespace lens::fleet {

// Not thread-safe.
class Leftovers {
 public:
  // `bindings` are all that were read. REQUIRES: discovery, scope and lists outlive this object.
  Leftovers(const kube::Discovery& discovery, const Scope& scope, const why::Objects& bindings,
            Lists& lists);

  // Keeps the Work if it is one of them.
  void Take(const kube::Object& work);
  void Clear() { by_template_.clear(); }
  // Adds a candidate for each template that does not exist any more. A template that is among the
  // candidates already, because it was made again, gets its Works.
  void AddTo(std::vector<Candidate>& candidates);

 private:
  using Id = std::pair<kube::Gvk, kube::ObjectKey>;
  using Works = std::map<std::string, kube::ObjectPtr>;  // By cluster.

  // Returns which of them exist, or may exist.
  std::set<Id> FindExisting();
  void FindOfKind(const kube::Gvk& gvk, const std::set<kube::ObjectKey>& keys,
                  std::set<Id>& existing);

  const kube::Discovery& discovery_;
  const Scope& scope_;
  Lists& lists_;
  std::set<std::string> bound_;  // The permanent ids of bindings.
  std::map<Id, Works> by_template_;
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_LEFTOVERS_H_
