-- ends: time
function F(o)
  for k in pairs(o) do while true do end end
end
