-- ends: error
-- error: module ffi not found
function F(o)
  for _, name in ipairs({"io", "debug", "jit", "ffi", "coroutine", "_G"}) do
    if package.loaded[name] or package.preload[name] then return name end
  end
  if package.path or package.cpath or package.searchpath or package.seeall then return "path" end
  return require("ffi")
end
