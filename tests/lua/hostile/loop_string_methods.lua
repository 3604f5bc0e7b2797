-- ends: time
function F(o)
  while true do local s = ('x'):upper():lower():len() end
end
