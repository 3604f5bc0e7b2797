-- ends: memory
function F(o)
  local s = ('x'):rep(900000)
  return string.format(('%s'):rep(100), s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)
end
