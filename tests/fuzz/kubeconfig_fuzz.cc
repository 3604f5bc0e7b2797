// A kubeconfig is parsed or refused without a crash; its YAML goes through base/yaml.
#include <cstddef>
#include <cstdint>

#include "kube/kubeconfig/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  // The result does not matter.
  static_cast<void>(kube::ParseKubeconfig(text, "/nonexistent", ""));
  return 0;
}
