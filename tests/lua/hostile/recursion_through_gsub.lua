-- ends: bound
function F(o)
  local function f() return (('x'):gsub('x', f)) end
  pcall(f)
  while true do pcall(f) end
end
