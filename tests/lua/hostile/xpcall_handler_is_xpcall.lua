-- ends: bound
function F(o)
  local function h(e) return xpcall(error, h, e) end
  while true do xpcall(error, h, 'x') end
end
