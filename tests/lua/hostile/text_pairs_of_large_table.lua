-- ends: time
function F(o)
  local t = {}
  for i = 1, 20000 do t['k' .. i] = i end
  while true do for k in pairs(t) do end end
end
