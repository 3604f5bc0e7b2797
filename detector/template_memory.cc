#include "detector/template_memory.h"

#include "api/reasons.h"

namespace detector {

TemplateMemory::TemplateMemory(kube::EventSink& events) : outcomes(events, api::kDetectorSource) {}

void TemplateMemory::Forget(const kube::Request& request) {
  waiting.Remove(request);
  uncounted.Remove(request);
  blocked.Forget(request);
  edits.Forget(request);
  asked.Forget(request);
  claims.Forget(request);
  deletions.Forget(request);
  outcomes.Forget(request);
}

void TemplateMemory::ForgetKind(const kube::Gvk& gvk) {
  waiting.RemoveKind(gvk);
  uncounted.RemoveKind(gvk);
  blocked.RemoveKind(gvk);
  edits.ForgetKind(gvk);
  asked.ForgetKind(gvk);
  claims.ForgetKind(gvk);
  deletions.ForgetKind(gvk);
  outcomes.ForgetKind(gvk);
}

}  // namespace detector
