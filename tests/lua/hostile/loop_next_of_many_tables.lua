-- ends: time
function F(o)
  local tables = {}
  for i = 1, 20 do
    tables[i] = {}
    for j = 1, 1000 do tables[i]['k' .. j] = j end
  end
  while true do
    for i = 1, 20 do next(tables[i], 'k5') end
  end
end
