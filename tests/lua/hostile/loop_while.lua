-- ends: time
function F(o)
  while true do end
end
