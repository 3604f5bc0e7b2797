-- ends: fine
function F(o)
  local function sum(n) if n == 0 then return 0 end return n + sum(n - 1) end
  return sum(5000)
end
