-- ends: fine
function F(o)
  pcall(next, o, {})
  pcall(next, o, print)
  pcall(next, 1)
  pcall(pairs, nil)
  pcall(ipairs, nil)
  return 1
end
