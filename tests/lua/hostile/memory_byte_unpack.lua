-- ends: error
-- error: string slice too long
function F(o)
  local s = ('x'):rep(1000000)
  return select('#', s:byte(1, -1))
end
