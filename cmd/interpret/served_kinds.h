// Determines how kinds are served when no server can be asked: for rules that name resources and
// scopes.
#ifndef CMD_INTERPRET_SERVED_KINDS_H_
#define CMD_INTERPRET_SERVED_KINDS_H_

#include <map>
#include <optional>

#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace cmd::interpret {

// The kinds of Kubernetes itself, and those of added definitions.
class ServedKinds {
 public:
  ServedKinds();

  // Returns whether the object is a CustomResourceDefinition.
  static bool IsDefinition(const kube::Object& object);
  // Adds every served version that it defines. REQUIRES: IsDefinition(definition).
  void Add(const kube::Object& definition);

  // Returns nullopt for an unknown kind.
  std::optional<kube::Resource> Find(const kube::Gvk& gvk) const;
  const std::map<kube::Gvk, kube::Resource>& all() const { return all_; }

 private:
  std::map<kube::Gvk, kube::Resource> all_;
};

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_SERVED_KINDS_H_
