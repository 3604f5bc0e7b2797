-- ends: error
-- error: attempt to index global 'jit' (a nil value)
function F(o)
  jit.on()
end
