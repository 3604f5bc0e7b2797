-- ends: time
function F(o)
  ::again::
  goto again
end
