-- ends: time
function F(o)
  while true do pcall(error, 'x') end
end
