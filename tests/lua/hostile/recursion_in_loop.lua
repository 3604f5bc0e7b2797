-- ends: time
function F(o)
  while true do pcall(function() return 1 + F(o) end) end
end
