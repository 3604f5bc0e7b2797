-- ends: error
-- error: attempt to index global 'debug' (a nil value)
function F(o)
  debug.sethook()
end
