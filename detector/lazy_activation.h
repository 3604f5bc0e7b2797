// When a policy with activationPreference Lazy acts on a template: when a user edits or creates the
// template, and at no other time.
#ifndef DETECTOR_LAZY_ACTIVATION_H_
#define DETECTOR_LAZY_ACTIVATION_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "detector/policy_index.h"
#include "detector/template_memory.h"
#include "interpreter/interpreter.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"

namespace detector {

// A pass over a template that a lazy policy governs.
struct LazyPass {
  const kube::Request& request;
  const kube::Resource& resource;  // The template's.
  const kube::Object& object;      // The template as the pass has read it, before it is claimed.
  const kube::Object& policy;
};

// Thread-safe.
class LazyActivation {
 public:
  // REQUIRES: all outlive this, and the caller reads Works and bindings of both scopes.
  LazyActivation(kube::ClusterClient& client, const interpreter::Interpreter& interpreter,
                 TemplateMemory& memory)
      : client_(client), interpreter_(interpreter), memory_(memory) {}

  // Returns whether the policy acts in this pass. Errors are those of requests to the server.
  //
  // A template with a binding that a policy governs has to have been edited since its state passed
  // last, whatever the request: a start, a resync or a new leader queues templates that nobody has
  // edited, and may have missed an edit. A binding that no policy governs says nothing about that,
  // so the request decides.
  //
  // A template without a binding has one made if the request is about an edit, or if it was created
  // after the policy began to select it. That it has just been seen for the first time is not
  // enough, since it may have been created a moment before the policy. What this process cannot
  // have seen, the server is asked about (metadata.managedFields), once for each version of a
  // template: whether it was edited after the policy had claimed it.
  absl::StatusOr<bool> Acts(const LazyPass& pass, const base::StopToken& stop) const;

 private:
  bool ActsOnBound(const LazyPass& pass, const kube::Object& binding) const;
  absl::StatusOr<bool> ActsOnUnbound(const LazyPass& pass, const base::StopToken& stop) const;
  // Returns whether somebody edited a template that the policy has claimed, or created it just
  // before the claim, after the policy.
  absl::StatusOr<bool> WasEditedOrJustCreated(const LazyPass& pass,
                                              const base::StopToken& stop) const;

  kube::ClusterClient& client_;
  const interpreter::Interpreter& interpreter_;
  TemplateMemory& memory_;
};

// Returns whether the template's present state has passed already, according to its binding, or a
// later one has.
bool HasPassedOrLater(const kube::Object& object, const kube::Object& binding,
                      kube::ClusterClient& client, const interpreter::Interpreter& interpreter);

// Returns whether the policy that has claimed the template is lazy, or, without a claim, the one
// that would be applied to it.
bool IsLazilyGoverned(const kube::Object& object, const PolicyIndex& policies,
                      const PolicyIndex& cluster_policies);

}  // namespace detector

#endif  // DETECTOR_LAZY_ACTIVATION_H_
