-- ends: error
-- error: call function collectgarbage is not supported
function F(o)
  collectgarbage('stop')
end
