-- ends: memory
function F(o)
  local s = ('x'):rep(10000)
  while true do s = s:gsub('x', 'xx') end
end
