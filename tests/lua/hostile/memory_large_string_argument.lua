-- ends: error
-- error: string length 1000001 exceeds the maximum allowed input string length 1000000 in Karmada lua string lib
function F(o)
  local s = ('x'):rep(1000000) .. 'x'
  return s:find('y')
end
