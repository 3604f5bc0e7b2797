-- ends: fine
function F(o)
  local t = {}
  for i = 1, 1000 do t[i] = i end
  pcall(table.sort, t, function() for i in pairs(t) do t[i] = nil end return false end)
  return 1
end
