-- ends: time
function F(o)
  local s = ('x'):rep(500000)
  local i = 0
  while true do i = i + 1 local x = s .. i end
end
