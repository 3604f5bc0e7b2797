-- ends: bound
function F(o)
  local s = ('x'):rep(900000)
  local t = {}
  for i = 1, 100 do t[i] = s .. i end
  while true do table.sort(t) end
end
