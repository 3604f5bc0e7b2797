// Plays stories side by side on one control plane with two members.
#ifndef TESTS_STORIES_STAGE_H_
#define TESTS_STORIES_STAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/stories/chronicle.h"
#include "tests/stories/story.h"
#include "tests/support/control_plane.h"

namespace tests {

// REQUIRES: the plane is a sandbox, and the stories outlive it.
class Stage {
 public:
  Stage(ControlPlane& plane, const std::vector<Story>& stories);

  // Plays all stories to their end. What goes wrong is in Reports() afterwards.
  void Play();
  std::vector<std::string> Reports(const Story& story) const { return chronicle_->Reports(story); }
  // Returns the parts of reports that the story has to cause, and has not caused so far.
  std::vector<std::string> MissingReports(const Story& story) const;

 private:
  // Returns what a story still waits for; nothing when it need not wait any more.
  using Missing = std::function<std::vector<std::string>(const Story&)>;

  void MakeKinds();
  void PlayPhase(size_t number);
  void BeginPhase(const Story& story, size_t number);
  void MakeTemplates(const Story& story);
  void PlayMember(const Story& story, const Phase& phase, const std::string& member);
  void DeleteIn(const std::string& member, const Story& story);
  void Restart();
  void DeleteTemplates();
  // Waits until no story waits for anything; reports what is still missing after a minute, and
  // leaves the stories out from then on that lack something.
  void Await(const std::vector<const Story*>& stories, const Missing& missing);
  // Waits until the controller manager has nothing more to do.
  void AwaitRest();

  std::vector<std::string> MissingArrival(const Story& story, const Phase& phase);
  std::vector<std::string> MissingResult(const Story& story, const Phase& phase);
  std::vector<std::string> MissingInBinding(const Story& story, const Phase& phase);
  std::vector<std::string> MissingDeletion(const Story& story);
  // Removes the finalizers that the story's controller has put on an object that is being deleted.
  void FinalizeIn(const std::string& member, const Story& story);

  // Returns the stories that have this phase and have not failed.
  std::vector<const Story*> InPhase(size_t number) const;
  sandbox::Backend& BackendOf(const std::string& cluster);
  // Return null when there is no such object.
  kube::ObjectPtr Find(const std::string& cluster, const kube::Gvk& gvk,
                       const kube::ObjectKey& key);
  kube::ObjectPtr FindSubject(const std::string& cluster, const Story& story);
  void Create(const Story& story, const kube::Object& object);
  void Patch(const std::string& cluster, const Story& story, const json::Value& patch,
             const std::string& subresource = "");

  ControlPlane& plane_;
  const std::vector<Story>& stories_;
  const std::shared_ptr<Chronicle> chronicle_;
  const std::string probes_ns_;
  std::set<const Story*> failed_;
  // By story and member: the uid of the object that the member's controller has deleted last.
  std::map<std::pair<const Story*, std::string>, std::string> deleted_;
};

}  // namespace tests

#endif  // TESTS_STORIES_STAGE_H_
