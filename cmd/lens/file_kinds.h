// The kinds that the objects of files may be of, with the names by which kubectl's users call them.
#ifndef CMD_LENS_FILE_KINDS_H_
#define CMD_LENS_FILE_KINDS_H_

#include <vector>

#include "kube/discovery/rest_mapper.h"
#include "lens/plan/input.h"

namespace cmd::lens {

// Returns what a server would serve that has the objects: Kubernetes' own kinds, Karmada's, those
// that definitions among the objects define, and those of the objects themselves.
kube::Discovery KindsFor(const std::vector<::lens::plan::InputObject>& objects);

}  // namespace cmd::lens

#endif  // CMD_LENS_FILE_KINDS_H_
