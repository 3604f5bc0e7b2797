-- ends: time
function F(o)
  local function deep(n)
    if n == 0 then while true do end end
    return pcall(deep, n - 1)
  end
  while true do deep(100) end
end
