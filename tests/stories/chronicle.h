// Records what goes wrong in stories while nobody looks: fights over fields, unexpected healths,
// evictions.
#ifndef TESTS_STORIES_CHRONICLE_H_
#define TESTS_STORIES_CHRONICLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "sandbox/fleet.h"
#include "tests/stories/field_owners.h"
#include "tests/stories/story.h"

namespace tests {

// Sees every write to the servers of a fleet, also one that changes nothing, and every state of a
// binding. Writes that come over HTTP are the controller manager's; the simulated controllers and
// the stage write to the backends directly.
//
// Thread-safe.
class Chronicle {
 public:
  // What is right at present.
  struct Expectation {
    std::string phase;
    // Fields that the control plane may take from the member's side: those that the user changes in
    // the template, and those that the member's side leaves to it. What is below them, too.
    std::set<std::string> left;
    std::map<std::string, std::set<std::string>> healths;  // By member; no entry: any.
  };

  // Returns a chronicle of what happens in the fleet from now on. The fleet keeps it as long as it
  // exists itself, because admission steps cannot be removed. REQUIRES: the stories outlive the
  // fleet.
  static std::shared_ptr<Chronicle> Begin(sandbox::Fleet& fleet, const std::vector<Story>& stories);
  Chronicle(const Chronicle&) = delete;

  void Expect(const Story& story, Expectation expectation);
  // Records a report; its text gets the story's file and phase. The same text counts once.
  void Report(const Story& story, const std::string& text);
  std::vector<std::string> Reports(const Story& story) const;

  // Returns how many writes for stories the controller manager has made so far.
  int64_t ControlPlaneWrites() const;
  // Makes each such write a report, as long as this is on.
  void ReportEveryWrite(bool on);

 private:
  explicit Chronicle(const std::vector<Story>& stories);

  struct Entry {
    Expectation expectation;
    std::vector<std::string> reports;
  };
  using ObjectName =
      std::tuple<std::string, kube::Gvk, kube::ObjectKey>;  // Begins with its member.

  // Returns the story to which the object of a cluster belongs; nullptr when there is none.
  const Story* StoryOf(const kube::Object& object) const;
  void OnPlaneWrite(const sandbox::AdmissionRequest& request, const kube::Object& object);
  void OnMemberWrite(const std::string& member, const sandbox::AdmissionRequest& request,
                     const kube::Object& object);
  void CountWrite(const Story& story, const std::string& cluster,
                  const sandbox::AdmissionRequest& request, const kube::Object& object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnBinding(const kube::Object& binding);
  void AddReport(const Story& story, const std::string& text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::map<std::string, const Story*> by_id_;
  mutable absl::Mutex mu_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);  // By the story's id.
  std::map<ObjectName, FieldOwners> owners_ ABSL_GUARDED_BY(mu_);
  int64_t writes_ ABSL_GUARDED_BY(mu_) = 0;
  bool every_write_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tests

#endif  // TESTS_STORIES_CHRONICLE_H_
