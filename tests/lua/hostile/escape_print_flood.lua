-- ends: time
function F(o)
  while true do print(('x'):rep(1000)) end
end
