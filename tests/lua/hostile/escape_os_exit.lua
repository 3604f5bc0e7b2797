-- ends: error
-- error: attempt to call field 'exit' (a nil value)
function F(o)
  os.exit(1)
end
