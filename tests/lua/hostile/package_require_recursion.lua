-- ends: error
function F(o)
  package.loaders[1] = function(name) return require(name .. "x") end
  return require("a")
end
