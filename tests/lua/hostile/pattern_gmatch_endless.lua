-- ends: time
function F(o)
  local s = ('a'):rep(1000000)
  while true do for w in s:gmatch('a*b') do end end
end
