-- ends: error
-- error: call function loadstring is not supported
function F(o)
  return loadstring('\27LJ\2')
end
