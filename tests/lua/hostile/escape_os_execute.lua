-- ends: error
-- error: attempt to call field 'execute' (a nil value)
function F(o)
  os.execute('true')
end
