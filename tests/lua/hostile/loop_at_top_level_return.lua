-- ends: time
local function spin() return spin() end
return spin()
