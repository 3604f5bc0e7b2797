-- ends: error
-- error: call function load is not supported
function F(o)
  return load(function() end)
end
