-- ends: time
function F(o)
  local f = ('%Y'):rep(300000)
  while true do os.date(f) end
end
