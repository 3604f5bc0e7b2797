-- ends: memory
function F(o)
  return #('x'):rep(1e9)
end
