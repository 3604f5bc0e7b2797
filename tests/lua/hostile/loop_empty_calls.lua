-- ends: time
local function nothing() end
function F(o)
  while true do nothing() nothing() nothing() end
end
