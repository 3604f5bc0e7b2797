-- ends: bound
function F(o)
  local t = {}
  t.t = t
  while true do pcall(require('bound').take, t) require('bound').take(o) end
end
