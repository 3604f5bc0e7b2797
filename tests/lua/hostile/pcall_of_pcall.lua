-- ends: time
function F(o)
  while true do pcall(pcall, pcall, pcall, error) end
end
