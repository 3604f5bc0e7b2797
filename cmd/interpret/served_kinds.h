// How kinds are served, where no server can be asked: for rules that name resources and scopes.
#ifndef CMD_INTERPRET_SERVED_KINDS_H_
#define CMD_INTERPRET_SERVED_KINDS_H_

#include <map>
#include <optional>

#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

// The kinds of Kubernetes itself, and those of definitions that are added.
class ServedKinds {
 public:
  ServedKinds();

  // Returns whether the object is a CustomResourceDefinition.
  static bool IsDefinition(const kube::Object& object);
  // Every served version that it defines. REQUIRES: IsDefinition(definition).
  void Add(const kube::Object& definition);

  // nullopt for a kind of which nothing is known.
  std::optional<kube::Resource> Find(const kube::Gvk& gvk) const;
  const std::map<kube::Gvk, kube::Resource>& all() const { return all_; }

 private:
  std::map<kube::Gvk, kube::Resource> all_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_SERVED_KINDS_H_
