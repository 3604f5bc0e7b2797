-- ends: error
-- error: call function setmetatable is not supported
function F(o)
  setmetatable(o, {})
end
