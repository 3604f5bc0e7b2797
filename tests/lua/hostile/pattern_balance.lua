-- ends: time
function F(o)
  local s = ('('):rep(1000000)
  return s:find('%b()')
end
