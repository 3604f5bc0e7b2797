-- ends: time
function F(o)
  for i = 1, math.huge do end
end
