#include "detector/template_memory.h"

#include "absl/strings/str_cat.h"
#include "api/reasons.h"

namespace detector {
namespace {

// The prefix of the names of all templates of a kind.
std::string CountingPrefix(const kube::Gvk& gvk) {
  return absl::StrCat("count ", gvk.ToString(), " ");
}
std::string ApplyingPrefix(const kube::Gvk& gvk) {
  return absl::StrCat("apply ", gvk.ToString(), " ");
}
std::string PreemptingPrefix(const kube::Gvk& gvk) {
  return absl::StrCat("preempt ", gvk.ToString(), " ");
}

}  // namespace

TemplateMemory::TemplateMemory(kube::EventSink& events) : outcomes(events, api::kDetectorSource) {}

void TemplateMemory::Forget(const kube::Request& request) {
  waiting.Remove(request);
  uncounted.Remove(request);
  blocked.Forget(request);
  edits.Forget(request);
  asked.Forget(request);
  claims.Forget(request);
  deletions.Forget(request);
  outcomes.Forget(CountingName(request.gvk, request.key));
  for (const std::string& name :
       {ApplyingName(request.gvk, request.key), PreemptingName(request.gvk, request.key)}) {
    outcomes.Forget(name);
    conflicts.Forget(name);
  }
}

void TemplateMemory::ForgetKind(const kube::Gvk& gvk) {
  waiting.RemoveKind(gvk);
  uncounted.RemoveKind(gvk);
  blocked.RemoveKind(gvk);
  edits.ForgetKind(gvk);
  asked.ForgetKind(gvk);
  claims.ForgetKind(gvk);
  deletions.ForgetKind(gvk);
  outcomes.ForgetAll(CountingPrefix(gvk));
  for (const std::string& prefix : {ApplyingPrefix(gvk), PreemptingPrefix(gvk)}) {
    outcomes.ForgetAll(prefix);
    conflicts.ForgetAll(prefix);
  }
}

std::string CountingName(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return absl::StrCat(CountingPrefix(gvk), key.ToString());
}

std::string ApplyingName(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return absl::StrCat(ApplyingPrefix(gvk), key.ToString());
}

std::string PreemptingName(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return absl::StrCat(PreemptingPrefix(gvk), key.ToString());
}

}  // namespace detector
