-- ends: error
-- error: attempt to index global 'package' (a nil value)
function F(o)
  return package.loaded
end
