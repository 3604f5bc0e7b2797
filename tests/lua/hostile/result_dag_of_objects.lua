-- ends: memory
function F(o)
  local t = {x = 1}
  for i = 1, 100 do t = {a = t, b = t} end
  return t
end
