-- ends: time
function F(o)
  while true do xpcall(error, print, 'x') end
end
