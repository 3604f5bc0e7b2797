-- ends: memory
function F(o)
  local s = 'x'
  while true do s = s .. s end
end
