-- ends: error
-- error: attempt to index global 'coroutine' (a nil value)
function F(o)
  coroutine.wrap(function() while true do end end)()
end
