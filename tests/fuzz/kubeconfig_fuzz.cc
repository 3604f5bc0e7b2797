// A kubeconfig is refused or read, never more; its YAML passes through base/yaml.
#include <cstddef>
#include <cstdint>

#include "kube/client/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  // Nothing that is read decides anything here: only that it does not crash.
  static_cast<void>(kube::ParseKubeconfig(text, "/nonexistent", ""));
  return 0;
}
