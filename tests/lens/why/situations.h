// Situations for the diagnosis, written down as changes of tests/data/lens/base.yaml.
#ifndef TESTS_LENS_WHY_SITUATIONS_H_
#define TESTS_LENS_WHY_SITUATIONS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/json.h"
#include "lens/why/chain.h"

namespace tests {

// A document of tests/data/lens/situations*.yaml:
//   name       what is wrong
//   until      the state of the way: template, claimed, bound, scheduled, dispatched; all by
//   default ask        changes of the question: kind, apiVersion, namespace, name, cluster,
//   skippedApis,
//              skippedNamespaces
//   patch      merge patches of objects, by "Kind namespace/name"; null removes the object
//   objects    further objects
//   members    by cluster: {error: why there are no credentials}, {unreachable: message},
//              {unauthorized: message} or {object: merge patch of the manifest, null for none};
//              {lacks: references to what the object needs and the member does not have};
//              {space: the Namespace that the member has, null for none};
//              {pods: the Pods that it shows, or why it does not; morePods: true when it has more}
//   unread     what could not be read: apiVersion, kind; namespace and name unless all of them
//   unserved   what a policy selects and the control plane does not serve: texts
//   elsewhere  namespaces that have an object of that kind and name
//   lostTarget what an autoscaler scales and does not exist: a text
//   headline   the first line of the answer; of a note about what has arrived, the note
//   advice     what to do about it, where the test is to compare it
//   check      the check that finds it; "" when nothing is found
//   grade      its grade; stuck by default
//   arrived    whether it has arrived, where the grade does not say so
struct Situation {
  std::string file;
  json::Value document;
  std::string Text(absl::string_view field) const { return document[field].ToString(); }
};
std::vector<Situation> ReadSituations();

// The objects of the control plane in a situation, what it asks, and when that is; they fail the
// test when the document is wrong.
lens::why::Objects ObjectsOf(const Situation& situation);
lens::why::Question QuestionOf(const Situation& situation);
absl::Time TimeOfSituations();

// The chain of a situation; fails the test when the document is wrong.
lens::why::Chain ChainOf(const Situation& situation);

}  // namespace tests

#endif  // TESTS_LENS_WHY_SITUATIONS_H_
