-- ends: time
function F(o)
  local s, p = ('a'):rep(1000000), ('a'):rep(499999) .. 'b'
  while true do s:find(p, 1, true) end
end
