-- ends: memory
function F(o)
  return ('xy'):rep(2^62)
end
