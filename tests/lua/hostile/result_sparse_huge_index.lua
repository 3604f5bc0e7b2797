-- ends: error
-- error: cannot encode sparse array
function F(o)
  return {[1] = 1, [2^52] = 2}
end
