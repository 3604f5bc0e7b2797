-- ends: bound
function F(o)
  local function f()
    table.sort({2, 1}, f)
    table.sort({2, 1}, f)
    return true
  end
  pcall(f)
  while true do pcall(f) end
end
