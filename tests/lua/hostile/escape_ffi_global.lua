-- ends: error
-- error: attempt to index global 'ffi' (a nil value)
function F(o)
  return ffi.C
end
