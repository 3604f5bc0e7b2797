-- ends: error
-- error: too many results to unpack
function F(o)
  return unpack({}, 1, 1e8)
end
