-- ends: bound
function F(o)
  local t = {}
  local s = ('x'):rep(100000)
  for i = 1, math.huge do t[s .. i] = i end
end
