-- ends: error
-- error: module ffi not found
function F(o)
  return require('ffi')
end
