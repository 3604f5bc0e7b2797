-- ends: time
function F(o)
  local s = ('9'):rep(1000000)
  while true do tonumber(s) tonumber(s, 10) end
end
