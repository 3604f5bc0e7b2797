-- ends: time
function F(o)
  local t = {}
  for i = 1, 20000 do t['k' .. i] = i end
  for k in next, t do end
  while true do next(t) end
end
