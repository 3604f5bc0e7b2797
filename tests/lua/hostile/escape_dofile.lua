-- ends: error
-- error: call function dofile is not supported
function F(o)
  dofile('/etc/passwd')
end
