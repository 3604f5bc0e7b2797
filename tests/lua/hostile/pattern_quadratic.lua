-- ends: time
function F(o)
  return ('a'):rep(1000000):find('.-b')
end
