-- ends: time
function F(o)
  repeat until false
end
