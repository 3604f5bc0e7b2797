-- ends: bound
function F(o)
  local t = {}
  while true do table.insert(t, 1, 0) end
end
