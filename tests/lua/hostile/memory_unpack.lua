-- ends: error
-- error: too many results to unpack
function F(o)
  local t = {}
  for i = 1, 100000 do t[i] = i end
  return unpack(t)
end
