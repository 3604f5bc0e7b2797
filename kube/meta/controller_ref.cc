#include "kube/meta/controller_ref.h"

#include <string>

namespace kube {

OwnerRef ControllerRef(const Object& owner) {
  OwnerRef reference;
  reference.api_version = std::string(owner.api_version());
  reference.kind = std::string(owner.kind());
  reference.name = std::string(owner.name());
  reference.uid = std::string(owner.uid());
  reference.controller = true;
  reference.block_owner_deletion = true;
  return reference;
}

}  // namespace kube
