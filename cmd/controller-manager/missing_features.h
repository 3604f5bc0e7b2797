// Reports objects that ask for something which this program does not do yet, to users who take over
// a control plane or use such a feature.
#ifndef CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_
#define CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_

#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"

namespace cmd {

// At the start one line in the log names all kinds marked "not yet" in config/support.h of which
// there are objects. Later an object of such a kind that is created or changed gets a warning event
// and a line of its own, also after Run has ended. Objects that cannot be read are ignored.
class MissingFeatures : public kube::Runnable, kube::KindSubscriber {
 public:
  // REQUIRES: `manager` and `kinds` outlive this object.
  MissingFeatures(kube::Manager& manager, kube::WatchedKinds& kinds);
  std::string name() const override { return "look for missing features"; }
  absl::Status Run(const base::StopToken& stop) override;

  // Part of KindSubscriber. The kinds without effect are watched as soon as they are served.
  void OnDiscovered(const kube::ServedKinds& served) override;
  kube::EventHandler HandlerFor(const kube::Resource& resource) override;

 private:
  void WarnOfKinds(const base::StopToken& stop);
  // Returns a handler that calls `report` for objects that are created or changed, and with
  // `from_start` also for those of the first list.
  kube::EventHandler HandlerOf(bool from_start, std::function<void(const kube::Object&)> report);
  void Report(const kube::Object& object, const std::string& what);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
  // This and `at_start_` belong to the thread that runs the kinds.
  std::set<kube::Gvk> watched_;
  std::set<kube::Gvk> at_start_;  // The kinds that were served before this process began to work.
  kube::WatchedKinds::Subscription subscription_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_
