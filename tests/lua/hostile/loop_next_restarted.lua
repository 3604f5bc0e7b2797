-- ends: time
function F(o)
  local k = nil
  while true do k = next(o, k) end
end
