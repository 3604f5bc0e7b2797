-- ends: fine
function F(o)
  return tostring(print):sub(1, 9) .. tostring(F):sub(1, 9) .. tostring({}):sub(1, 6)
end
