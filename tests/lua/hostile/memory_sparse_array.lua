-- ends: memory
function F(o)
  local t = {}
  local i = 1
  while true do t[i] = {} t[-i] = {} i = i + 1 end
end
