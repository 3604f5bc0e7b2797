-- ends: error
-- error: call function setfenv is not supported
function F(o)
  setfenv(F, {})
end
