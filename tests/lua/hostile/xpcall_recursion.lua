-- ends: bound
function F(o)
  local function f() return (xpcall(f, f)) end
  while true do f() end
end
