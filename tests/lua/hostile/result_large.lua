-- ends: memory
function F(o)
  local t = {}
  for i = 1, 200000 do t[i] = 'xxxxxxxx' end
  return t
end
