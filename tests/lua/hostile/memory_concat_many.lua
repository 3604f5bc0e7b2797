-- ends: bound
function F(o)
  local s = ('x'):rep(100000)
  local t = {}
  while true do t[#t + 1] = s .. #t end
end
