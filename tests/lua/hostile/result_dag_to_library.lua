-- ends: memory
function F(o)
  local t = {1}
  for i = 1, 100 do t = {t, t} end
  require('bound').take(t)
end
