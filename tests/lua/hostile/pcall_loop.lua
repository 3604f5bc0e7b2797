-- ends: time
function F(o)
  while true do pcall(function() while true do end end) end
end
