-- ends: error
-- error: attempt to index global 'io' (a nil value)
function F(o)
  return io.open('/etc/passwd')
end
