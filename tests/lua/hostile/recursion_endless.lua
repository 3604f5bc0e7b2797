-- ends: error
-- error: stack overflow
function F(o)
  return 1 + F(o)
end
