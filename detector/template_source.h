// Finds out which kinds the control plane serves and feeds the template queue with changes of their
// objects.
#ifndef DETECTOR_TEMPLATE_SOURCE_H_
#define DETECTOR_TEMPLATE_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "detector/policy_index.h"
#include "detector/template_edits.h"
#include "detector/template_filter.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/work_queue.h"

namespace detector {

// Every 30 s (first at once): asks discovery for the preferred resources, and starts an informer
// for each that supports delete, list and watch and is not excluded. Informers of kinds that vanish
// are removed.
class TemplateSource : public kube::Runnable {
 public:
  struct Deps {
    kube::Manager& manager;
    TemplateFilter filter;
    const PolicyIndex& policies;
    const PolicyIndex& cluster_policies;
    TemplateEdits& edits;
    kube::WorkQueue& queue;
  };
  explicit TemplateSource(Deps deps) : deps_(std::move(deps)) {}

  std::string name() const override { return "template discovery"; }
  absl::Status Run(const base::StopToken& stop) override;

 private:
  absl::Status DiscoverOnce(const base::StopToken& stop);
  void Watch(const kube::Resource& resource);
  void OnUpdate(kube::Request request, const kube::Object& before, const kube::Object& after);
  bool IsLazilyClaimed(const kube::Object& object) const;

  const Deps deps_;
  std::map<kube::Gvr, kube::Resource> watched_;
  std::string last_failure_;
};

}  // namespace detector

#endif  // DETECTOR_TEMPLATE_SOURCE_H_
