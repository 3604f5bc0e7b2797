-- ends: time
function F(o)
  local s = ('a'):rep(100000)
  return s:find('(.*)%1%1%1b')
end
