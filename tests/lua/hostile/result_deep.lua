-- ends: error
-- error: nested so deeply
function F(o)
  local t = {1}
  for i = 1, 20000 do t = {t} end
  return t
end
