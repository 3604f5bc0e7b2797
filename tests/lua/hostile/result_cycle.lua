-- ends: error
-- error: cannot encode recursively nested tables to JSON
function F(o)
  local t = {}
  t.t = {t}
  return t
end
