// The life of an object, as a file tells it (README.md has the format).
#ifndef TESTS_STORIES_STORY_H_
#define TESTS_STORIES_STORY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace tests {

// What happens in a phase, and what has to hold at its end.
struct Phase {
  std::string name;
  json::Value user;     // A merge patch for the template; null: none.
  json::Value arrived;  // What members' objects have when the user's change has come to them.
  std::map<std::string, json::Value> member;  // By member: a merge patch for its object.
  std::set<std::string> deletes;              // The members whose controller deletes the object.
  std::map<std::string, std::string> health;  // By member; no entry: any.
  std::set<std::string> left;       // Fields that the members' side leaves to the control plane.
  std::set<std::string> meanwhile;  // Healths that may also show on the way.
  json::Value expected_template;    // A part of the template; null: nothing.
  std::map<std::string, json::Value> expected_member;  // By member: a part of its object.
};

struct Story {
  std::string file;                     // "argoproj.io/Rollout.yaml".
  std::string id;                       // Its namespace, or its object's name where that has none.
  std::vector<kube::Object> templates;  // The last one is the object whose life it is.
  // How a kind is served that the sandbox does not know; empty for one that it knows.
  std::string plural;
  bool namespaced = true;
  bool status_subresource = true;
  json::Value policy;  // Merged into the spec of its propagation policy; null: nothing.
  std::vector<std::string> reports;  // Parts of the reports that it must cause.
  std::vector<Phase> phases;

  const kube::Object& subject() const { return templates.back(); }
  // Returns whether some phase allows this health.
  bool MayBe(const std::string& health) const;
};

inline constexpr const char* kMembers[] = {"member1", "member2"};

// kInvalidArgument with the file's name when the text is not a story.
absl::StatusOr<Story> ParseStory(const std::string& file, const std::string& text);
// Returns the stories of the files below `directory` whose path contains `filter`, sorted by path.
absl::StatusOr<std::vector<Story>> LoadStories(const std::string& directory,
                                               const std::string& filter);

}  // namespace tests

#endif  // TESTS_STORIES_STORY_H_
