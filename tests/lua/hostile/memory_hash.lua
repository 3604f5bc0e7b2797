-- ends: memory
function F(o)
  local t = {}
  for i = 1, math.huge do t['k' .. i] = true end
end
