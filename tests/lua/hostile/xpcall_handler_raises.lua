-- ends: fine
function F(o)
  local ok = xpcall(function() error('x') end, function() error('y') end)
  return ok
end
