-- ends: memory
function F(o)
  local t = {}
  for i = 1, 100000 do t[i] = o end
  return t
end
