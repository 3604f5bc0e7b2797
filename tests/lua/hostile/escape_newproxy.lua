-- ends: error
-- error: call function newproxy is not supported
function F(o)
  newproxy(true)
end
