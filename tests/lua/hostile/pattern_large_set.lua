-- ends: time
function F(o)
  local set = '[' .. ('b'):rep(900000) .. ']'
  return ('a'):rep(1000000):find(set)
end
