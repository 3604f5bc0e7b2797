-- ends: bound
function F(o)
  local t = {}
  for i = 1, 50000 do t[i] = 'k' .. (i * 7919) % 200003 end
  while true do table.sort(t) table.sort(t, function(a, b) return b < a end) end
end
