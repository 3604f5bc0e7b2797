-- ends: error
-- error: in callback
function F(o)
  return ('aaa'):gsub('a', function() error('in callback') end)
end
