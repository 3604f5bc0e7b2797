-- ends: error
-- error: exceeds the maximum allowed input string length 1000000
function F(o)
  local s = ('x'):rep(10000)
  while true do s = s:gsub('x', 'xx') end
end
