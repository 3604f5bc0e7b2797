-- ends: memory
function F(o)
  local t = {}
  while true do t = {t} end
end
