-- ends: time
function F(o)
  local large = string.rep("x", 200000)
  while true do pcall(require('bound').take, large) end
end
