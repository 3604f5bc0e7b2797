-- ends: time
function F(o)
  local x = 1
  while x ~= 0 do x = (x * 7 + 3) % 1000003 + 1 end
end
