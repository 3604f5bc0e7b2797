-- ends: fine
function F(o)
  pcall(select, -2^31, 1)
  pcall(select, 2^31, 1)
  pcall(string.sub, 'x', -2^62, 2^62)
  pcall(string.byte, 'x', -2^62, 2^62)
  pcall(string.find, 'x', 'x', 2^62)
  return 1
end
