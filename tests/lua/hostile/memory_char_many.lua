-- ends: fine
function F(o)
  local t = {}
  for i = 1, 5000 do t[i] = 65 end
  return #string.char(unpack(t))
end
