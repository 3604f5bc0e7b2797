-- ends: time
function F(o)
  local s = ('a'):rep(1000000)
  while true do s:find('%f[%d]') end
end
