-- ends: error
-- error: module jit.util not found
function F(o)
  return require('jit.util')
end
