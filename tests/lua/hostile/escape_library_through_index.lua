-- ends: error
-- error: attempt to index field '__index' (a nil value)
function F(o)
  string.__index.format = nil
end
