// Remembers the claims that the detector writes to templates, so that it does not take them for
// edits.
//
// The pass that claims a template goes on with the claimed object, and brings its binding up to
// date. The update that the claim causes would repeat all this work: ask the interpreter, compare
// the binding. It is recognised by its result, which is exactly what the pass has written.
//
// This memory may be empty at any moment; then the template is looked at once more. It never hides
// a change by somebody else: the server refuses a claim on a template that changed meanwhile, any
// other update ends what was expected, and a pass that fails after its claim is tried again.
#ifndef DETECTOR_OWN_CLAIMS_H_
#define DETECTOR_OWN_CLAIMS_H_

#include <optional>
#include <utility>

#include "detector/per_template.h"
#include "kube/meta/object.h"
#include "kube/meta/specification.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// Thread-safe.
class OwnClaims : public PerTemplate<kube::Object> {
 public:
  // Records that the template is about to be written as `claimed`. Call it before the write,
  // because the update may come before the answer.
  void Expect(kube::Request request, kube::Object claimed) {
    Set(std::move(request), std::move(claimed));
  }
  // Call it with the template after each update of its specification. Returns whether that is what
  // was expected; afterwards nothing is expected.
  bool Take(const kube::Request& request, const kube::Object& now) {
    const std::optional<kube::Object> expected = Extract(request);
    return expected.has_value() && !kube::SpecificationChanged(*expected, now);
  }
};

}  // namespace detector

#endif  // DETECTOR_OWN_CLAIMS_H_
