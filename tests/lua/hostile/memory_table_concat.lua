-- ends: memory
function F(o)
  local s = ('x'):rep(1000000)
  local t = {}
  for i = 1, 1000 do t[i] = s end
  return #table.concat(t)
end
