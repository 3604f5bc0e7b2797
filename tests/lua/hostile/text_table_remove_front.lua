-- ends: bound
function F(o)
  while true do
    local t = {}
    for i = 1, 100000 do t[i] = i end
    while #t > 0 do table.remove(t, 1) end
  end
end
