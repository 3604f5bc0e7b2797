-- ends: time
function F(o)
  xpcall(function() error('x') end, function() while true do end end)
end
