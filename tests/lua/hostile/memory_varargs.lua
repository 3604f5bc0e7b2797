-- ends: bound
function F(o)
  local function f(...) return f(1, ...) end
  f()
end
