// A template of a control plane, with what was read that belongs to it alone.
#ifndef LENS_FLEET_CANDIDATE_H_
#define LENS_FLEET_CANDIDATE_H_

#include <map>
#include <string>
#include <vector>

#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace lens::fleet {

struct Candidate {
  kube::Gvk gvk;
  kube::ObjectKey key;
  kube::ObjectPtr object;   // nullptr: there is none.
  kube::ObjectPtr binding;  // nullptr: there is none.
  bool is_read = true;      // False: it is not known whether there is a template.
  // True as long as nothing was seen that is not as it should be. Then its Works are not kept.
  bool seems_fine = true;
  std::vector<std::string> places;               // The clusters whose Works are fine, not kept.
  std::map<std::string, kube::ObjectPtr> works;  // Those that are kept, by cluster.
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_CANDIDATE_H_
