-- ends: fine
function F(o)
  string.format, string.gsub, table.concat, math.floor, os.time = nil, 1, {}, 'x', print
  for k in pairs(_G) do _G[k] = nil end
  return 1
end
