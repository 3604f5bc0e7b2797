// Makes the kinds of stories that the sandbox does not know.
#ifndef TESTS_STORIES_DEFINITIONS_H_
#define TESTS_STORIES_DEFINITIONS_H_

#include <vector>

#include "kube/meta/object.h"
#include "tests/stories/story.h"

namespace tests {

// Returns a CustomResourceDefinition for each kind of which a story says how it is served. Its
// objects may have any fields; all versions that stories use are served.
std::vector<kube::Object> DefinitionsOf(const std::vector<Story>& stories);

// Returns the policy that propagates the story's templates to both members. Where the story allows
// the health Unhealthy in no phase, the policy moves the object away as soon as it is unhealthy.
kube::Object PolicyOf(const Story& story);

}  // namespace tests

#endif  // TESTS_STORIES_DEFINITIONS_H_
