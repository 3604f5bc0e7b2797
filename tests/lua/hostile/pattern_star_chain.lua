-- ends: time
function F(o)
  local s = ('a'):rep(30)
  return s:match(('a*'):rep(30) .. 'b')
end
