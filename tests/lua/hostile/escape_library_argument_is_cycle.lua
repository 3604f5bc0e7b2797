-- ends: error
-- error: cannot encode recursively nested tables to JSON
function F(o)
  local t = {}
  t.t = t
  require('bound').take(t)
end
