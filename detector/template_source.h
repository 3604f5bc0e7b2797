// Feeds the template queue with changes of the objects that can be templates.
#ifndef DETECTOR_TEMPLATE_SOURCE_H_
#define DETECTOR_TEMPLATE_SOURCE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "detector/needed_kinds.h"
#include "detector/new_kinds.h"
#include "detector/policy_index.h"
#include "detector/template_edits.h"
#include "detector/template_filter.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/work_queue.h"

namespace detector {

// Asks discovery every 30 s (first at once, and sooner while a needed kind is not served yet) for
// the preferred resources, and starts an informer for each that is needed, supports delete, list
// and watch and is not excluded. Informers of kinds that vanish are removed.
class TemplateSource : public kube::Runnable {
 public:
  struct Deps {
    kube::Manager& manager;
    TemplateFilter filter;
    const PolicyIndex& policies;
    const PolicyIndex& cluster_policies;
    TemplateEdits& edits;
    NeededKinds& needed;
    kube::WorkQueue& queue;
    absl::Duration cluster_status_round;  // How often clusters tell which kinds they serve.
  };
  explicit TemplateSource(Deps deps)
      : deps_(std::move(deps)), new_kinds_(deps_.cluster_status_round) {}

  std::string name() const override { return "template discovery"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  absl::Status DiscoverOnce(const base::StopToken& stop);
  // Starts what is served and not watched yet; whether all of the needed kinds are served.
  bool WatchNeeded();
  // Watches kinds as they become needed or done with waiting; returns at the deadline, at the stop,
  // or with true when discovery has to be asked for one.
  bool AwaitUnserved(base::SteadyTime deadline, const base::StopToken& stop);
  void Report(const absl::Status& discovered);
  void Watch(const kube::Resource& resource);
  void OnUpdate(kube::Request request, const kube::Object& before, const kube::Object& after);
  bool IsLazilyClaimed(const kube::Object& object) const;

  const Deps deps_;
  std::map<kube::Gvk, kube::Resource> served_;  // What could be watched.
  std::map<kube::Gvk, kube::Resource> watched_;
  NewKinds new_kinds_;
  std::set<kube::Gvk> told_to_wait_;
  std::string last_failure_;
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_SOURCE_H_
