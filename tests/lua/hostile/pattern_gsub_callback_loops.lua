-- ends: time
function F(o)
  return ('aaa'):gsub('a', function() while true do end end)
end
