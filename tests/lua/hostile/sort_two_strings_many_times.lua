-- Few strings, long and alike, in a list with many members: each comparison reads them whole.
-- ends: time
function F(o)
  local base = ("x"):rep(1500000)
  local a, b = base .. "a", base .. "b"
  base = nil
  local list = {}
  for i = 1, 20000 do list[i] = i % 2 == 0 and a or b end
  table.sort(list)
  return o
end
