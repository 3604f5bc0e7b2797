-- ends: error
-- error: call function rawset is not supported
function F(o)
  rawset(o, 'x', 1)
end
