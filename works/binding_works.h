// Which Works are a binding's, and when one changes hands.
#ifndef WORKS_BINDING_WORKS_H_
#define WORKS_BINDING_WORKS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "api/binding.h"
#include "api/names.h"
#include "api/resources.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace works {

// Returns whether the Work is the binding's: it lies in the execution namespace of a cluster, has
// the binding's permanent id, and its annotations name the binding. The label alone does not prove
// it: a binding that was copied or restored into another namespace has the label of the original,
// and somebody may put the label on any binding, or on a Work in a namespace of their own. (For
// upstream the label suffices.)
template <class Scope>
bool IsWorkOf(const kube::Object& work, const kube::Object& binding) {
  const absl::string_view id = api::BindingView(binding).PermanentId();
  return !id.empty() && work.Label(Scope::kIdLabel) == id && api::IsExecutionNamespace(work.ns()) &&
         Scope::BindingOf(work) == binding.key();
}

// Returns those of the binding's Works that the cache shows. REQUIRES: Works are declared as read
// by the index Scope::kIdLabel.
template <class Scope>
std::vector<kube::ObjectPtr> WorksOfBinding(kube::ClusterClient& client,
                                            const kube::Object& binding) {
  const absl::string_view id = api::BindingView(binding).PermanentId();
  if (id.empty()) return {};
  std::vector<kube::ObjectPtr> works = client.ByIndex(api::Works(), Scope::kIdLabel, id);
  std::erase_if(works,
                [&](const kube::ObjectPtr& work) { return !IsWorkOf<Scope>(*work, binding); });
  return works;
}

// Returns whether the binding is to have a Work in the cluster: it is a target, or the workload is
// being evicted from it gracefully.
bool Expects(const kube::Object& binding, absl::string_view cluster);

// Returns the object that a Work of Karmada brings: its first manifest.
kube::Object ObjectOf(const kube::Object& work);

// Returns whether the Work names another binding than before, or none any more: whoever else stands
// behind it has to write it.
bool ChangedHands(const kube::Object& before, const kube::Object& after);

}  // namespace works

#endif  // WORKS_BINDING_WORKS_H_
