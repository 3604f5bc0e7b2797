-- ends: bound
function F(o)
  local function again() pcall(again) pcall(again) end
  again()
  while true do again() end
end
