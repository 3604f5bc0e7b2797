-- ends: error
-- error: cannot encode
function F(o)
  return _G
end
