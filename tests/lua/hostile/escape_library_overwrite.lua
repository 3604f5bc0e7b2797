-- ends: fine
function F(o)
  string.format, string.gsub, table.concat, math.floor, os.time = nil, 1, {}, 'x', print
  local all = _G
  for k in pairs(all) do all[k] = nil end
  return 1
end
