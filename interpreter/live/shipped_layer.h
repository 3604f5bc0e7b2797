// The layer of the shipped customizations.
#ifndef INTERPRETER_LIVE_SHIPPED_LAYER_H_
#define INTERPRETER_LIVE_SHIPPED_LAYER_H_

#include <memory>

#include "interpreter/customized/lua_backend.h"

namespace interpreter::live {

// Returns the layer, with all shipped customizations loaded; their problems are logged.
// `options.layer` is not read.
std::unique_ptr<customized::LuaBackend> NewShippedLayer(customized::LuaBackendOptions options);

}  // namespace interpreter::live

#endif  // INTERPRETER_LIVE_SHIPPED_LAYER_H_
