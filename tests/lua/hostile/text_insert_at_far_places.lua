-- ends: bound
function F(o)
  local t = {1}
  pcall(table.insert, t, -2^31, 1)
  pcall(table.insert, t, 2^31, 1)
  pcall(table.concat, t, ',', -2^31, 2^31)
  pcall(table.remove, t, -2^31)
  while true do table.insert(t, -2^30, 1) end
end
