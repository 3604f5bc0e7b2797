-- ends: memory
function F(o)
  local f = function() return 1 end
  while true do
    local g = f
    f = function() return g() end
  end
end
