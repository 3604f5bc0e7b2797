#include "interpreter/live/shipped_layer.h"

#include <utility>

#include "base/log.h"
#include "interpreter/customized/shipped.h"

namespace interpreter::live {

std::unique_ptr<customized::LuaBackend> NewShippedLayer(customized::LuaBackendOptions options) {
  options.layer = kShippedLayer;
  auto shipped = std::make_unique<customized::LuaBackend>(options);
  auto set = customized::LoadShipped(customized::ShippedFiles());
  for (const auto& [name, problems] : set->problems()) {
    for (const customized::Problem& problem : problems) {
      base::LogError("a shipped customization has a problem",
                     {{"customization", name}, {"problem", problem.ToString()}});
    }
  }
  shipped->Replace(std::move(set));
  return shipped;
}

}  // namespace interpreter::live
