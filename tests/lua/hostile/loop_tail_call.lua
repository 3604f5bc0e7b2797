-- ends: time
function F(o)
  return F(o)
end
