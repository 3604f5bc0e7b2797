-- ends: error
-- error: call function getfenv is not supported
function F(o)
  return getfenv(0)
end
