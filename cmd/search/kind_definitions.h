// Follows the CustomResourceDefinitions of the control plane, for the columns and the selectable
// fields of custom kinds.
#ifndef CMD_SEARCH_KIND_DEFINITIONS_H_
#define CMD_SEARCH_KIND_DEFINITIONS_H_

#include <cstdint>
#include <memory>

#include "kube/cache/informer.h"
#include "search/proxy/custom_kinds.h"

namespace cmd {

// Thread-safe. Without the right to list definitions, or as long as they have not been read, custom
// kinds have the columns and fields of kinds that nothing is known of.
class KindDefinitions {
 public:
  // REQUIRES: `control_plane` outlives the object.
  explicit KindDefinitions(kube::InformerSet& control_plane);
  ~KindDefinitions();
  KindDefinitions(const KindDefinitions&) = delete;

  const search::CustomKinds& kinds() const { return kinds_; }

 private:
  search::CustomKinds kinds_;
  std::shared_ptr<kube::Informer> informer_;
  int64_t handler_ = 0;
};

}  // namespace cmd

#endif  // CMD_SEARCH_KIND_DEFINITIONS_H_
