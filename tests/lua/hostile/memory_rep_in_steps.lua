-- ends: memory
function F(o)
  local t = {}
  while true do t[#t + 1] = ('x'):rep(1000000 - #t) end
end
