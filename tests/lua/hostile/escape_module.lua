-- ends: error
-- error: call function module is not supported
function F(o)
  module('x')
end
