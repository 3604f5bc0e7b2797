-- ends: time
function F(o)
  local s = ('x'):rep(900000)
  local keep = s .. s
  while true do local x = s .. s end
end
