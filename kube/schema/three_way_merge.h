// What `kubectl apply` makes of an object on a server.
#ifndef KUBE_SCHEMA_THREE_WAY_MERGE_H_
#define KUBE_SCHEMA_THREE_WAY_MERGE_H_

#include "base/json.h"

namespace kube {

// Returns `live` with what `file` says. What `file` does not have stays, unless `last`, the file
// that was applied before, has it; null and an absent `last` have nothing. Lists of the built-in
// kinds merge by their keys (containers by name, ports by containerPort) or as sets (finalizers),
// and of a volume or a strategy only the members that the file names stay once the file changes one
// of them; other lists, and all lists of other kinds, are replaced. Labels and annotations that
// others have set stay even if a file has no labels any more, where kubectl removes all of them.
//
// The result is that of k8s.io/apimachinery's CreateThreeWayMergePatch and StrategicMergePatch
// together. Lists in which several items have one key are an exception: the first of them in the
// file belongs to the first of them in the live object, the second to the second, and so on.
json::Value ThreeWayMerge(const json::Value& last, const json::Value& file,
                          const json::Value& live);

}  // namespace kube

#endif  // KUBE_SCHEMA_THREE_WAY_MERGE_H_
