-- ends: time
function F(o)
  xpcall(function() while true do end end, function() while true do end end)
  while true do end
end
