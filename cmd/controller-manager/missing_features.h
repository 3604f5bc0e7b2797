// Reports objects that ask for what this program does not do yet: whoever takes a control plane
// over, or uses such a feature, has to know.
#ifndef CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_
#define CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/handler_registration.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/watched_kinds.h"

namespace cmd {

// What is there at the start is counted in the log: a line for all kinds marked "not yet" in
// config/support.h, one for each field without effect, one for what bindings have. From then on an
// object that comes or changes gets a warning event and a line of its own, also when Run has ended.
// What cannot be read is passed over.
class MissingFeatures : public kube::Runnable, kube::KindSubscriber {
 public:
  // REQUIRES: both outlive this.
  MissingFeatures(kube::Manager& manager, kube::WatchedKinds& kinds);
  std::string name() const override { return "look for missing features"; }
  absl::Status Run(const base::StopToken& stop) override;

  // Of WatchedKinds. The kinds without effect are watched as soon as they are served.
  void OnDiscovered(const std::set<kube::Gvk>& served) override;
  kube::EventHandler HandlerFor(const kube::Resource& resource) override;

 private:
  void WarnOfKinds(const base::StopToken& stop);
  void WarnOfFields(const kube::Resource& resource, const base::StopToken& stop);
  void WarnOfBindings(const base::StopToken& stop);
  // Waits for the first list. False when it does not come in time.
  bool Await(const kube::Resource& resource, const base::StopToken& stop);
  // Calls `report` for objects that come or change. With `from_start`, also for those that are
  // listed first.
  kube::EventHandler HandlerOf(bool from_start, std::function<void(const kube::Object&)> report);
  void Report(const kube::Object& object, const std::string& what);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
  // These two belong to the thread that runs the kinds.
  std::set<kube::Gvk> watched_;
  std::optional<std::set<kube::Gvk>> at_start_;  // What the first round of discovery showed.
  kube::WatchedKinds::Subscription subscription_;
  std::vector<kube::HandlerRegistration> handlers_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_MISSING_FEATURES_H_
