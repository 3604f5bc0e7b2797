// What the deletion of an object of one of Karmada's own kinds, of a template or of a Namespace of
// the control plane waits for.
#ifndef LENS_WHY_OWN_DELETIONS_H_
#define LENS_WHY_OWN_DELETIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"
#include "lens/why/checks.h"

namespace lens::why {

// Names each finalizer of an object of Karmada's own kinds that is being deleted, who takes it
// away, and what has to happen before; and advises nothing by which something is left behind.
Findings OwnObjectIsBeingDeleted(const Chain& chain);

// The same of a template, and of a Namespace also what it says of its contents.
Findings TemplateIsBeingDeleted(const Chain& chain);

// Says of a Cluster that the namespace of its Works is being deleted, though the Cluster is not.
Findings WorksOfClusterAreBeingDeleted(const Chain& chain);

// Returns "its finalizer" or, of an object that has several, "its finalizers".
std::string ItsFinalizers(const kube::Object& object);

// The finalizers that hold up the deletion of a Work or a binding.
struct Holders {
  // All of them: "karmada.io/binding-controller, and for example.io/hold, which none of Karmada's
  // programs takes away".
  std::string text;
  // Those of programs that are unknown here, with the same words; "" for none.
  std::string foreign;
  std::string advice = {};    // What to do about those: a sentence without its full stop; or "".
  bool has_karmadas = false;  // One of Karmada's programs has to do something, too.
};
// Returns an empty value for an object that is not being deleted.
Holders HoldersOf(const kube::Object& object);

// Returns whether one of Karmada's programs takes away this finalizer of objects of the kind. From
// other kinds nobody does, whatever its name is.
bool IsKarmadasFinalizer(absl::string_view finalizer, const kube::Gvk& gvk);

// Returns "works.work.karmada.io" for a finalizer that one of Karmada's programs takes away from
// such objects; "" for others.
std::string ResourceWithFinalizer(absl::string_view finalizer);

}  // namespace lens::why

#endif  // LENS_WHY_OWN_DELETIONS_H_
