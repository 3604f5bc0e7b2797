-- ends: fine
function F(o)
  local s, size = ('x'):rep(1900000), 0
  for i = 1, 20 do
    local x = s .. i
    size = size + #x
  end
  return size
end
