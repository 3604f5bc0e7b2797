-- ends: memory
function F(o)
  local s = ('x'):rep(100000)
  return #s:gsub('x', ('%0'):rep(1000))
end
