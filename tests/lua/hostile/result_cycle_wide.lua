-- ends: error
-- error: cannot encode recursively nested tables to JSON
function F(o)
  local t = {}
  for i = 1, 1000 do t[i] = t end
  return t
end
