-- ends: error
-- error: too many captures
function F(o)
  return ('a'):rep(100):find(('(a)'):rep(40))
end
