-- ends: time
function F(o)
  local s = ('a'):rep(100000)
  return s:find('.-b.-c')
end
