// What a Namespace that is being deleted waits for, by its own account: the namespace controller
// writes it into the conditions of the Namespace.
#ifndef LENS_WHY_NAMESPACE_DELETION_H_
#define LENS_WHY_NAMESPACE_DELETION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace lens::why {

struct NamespaceHold {
  std::string text;    // The messages of its conditions; "" when they say nothing.
  std::string advice;  // A sentence without its full stop; "" with the text.
  // A program of Karmada's has to take finalizers off what the Namespace contains.
  bool waits_for_karmada = false;
};

// Returns whether the Namespace is being deleted and contains nothing any more: the namespace
// controller has taken its own finalizer off. What the conditions say is of an earlier time then.
bool IsEmptied(const kube::Object& space);

// Returns what holds up the Namespace; `cluster` is the member that has it, "" for the control
// plane. An empty value for other objects, and for a Namespace that is not being deleted.
NamespaceHold HoldOf(const kube::Object& space, absl::string_view cluster);

}  // namespace lens::why

#endif  // LENS_WHY_NAMESPACE_DELETION_H_
