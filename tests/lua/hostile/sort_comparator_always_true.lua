-- ends: fine
function F(o)
  local t = {}
  for i = 1, 100 do t[i] = i end
  table.sort(t, function() return true end)
  return #t
end
