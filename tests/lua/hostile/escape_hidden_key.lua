-- ends: fine
function F(o)
  local seen = 0
  for k, v in pairs(o) do
    if type(k) ~= 'string' then error('a key of type ' .. type(k)) end
  end
  local k = nil
  repeat
    k = next(o, k)
    if k ~= nil and type(k) ~= 'string' then error('a key of type ' .. type(k)) end
  until k == nil
  return 1
end
