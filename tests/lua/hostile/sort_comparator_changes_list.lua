-- ends: bound
function F(o)
  local t = {}
  for i = 1, 1000 do t[i] = i end
  while true do
    table.sort(t, function(a, b)
      t[#t + 1] = 0
      return (a or 0) < (b or 0)
    end)
  end
end
