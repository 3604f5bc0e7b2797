-- ends: error
-- error: cannot encode recursively nested tables to JSON
function F(o)
  o.list[1].back = o
  return o
end
