-- ends: error
-- error: The Lua function string.dump is not supported by Karmada.
function F(o)
  return string.dump(F)
end
