#include "cmd/interpret/layers.h"

#include <utility>

#include "base/status.h"

namespace cmd::interpret {

absl::StatusOr<std::unique_ptr<Layers>> Layers::Build(const LayerOptions& options,
                                                      DocumentReader&) {
  auto layers = std::unique_ptr<Layers>(new Layers());
  std::vector<std::unique_ptr<interpreter::Backend>> backends;
  if (!options.no_native) backends.push_back(interpreter::NewNativeBackend());
  layers->chain_ = interpreter::NewChain(std::move(backends));
  return layers;
}

}  // namespace cmd::interpret
