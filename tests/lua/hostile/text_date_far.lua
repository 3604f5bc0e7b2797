-- ends: fine
function F(o)
  os.date('%c', 1e300) os.date('%c', -1e300) os.date('*t', 0/0)
  os.time({year = 1e9, month = -1e9, day = 1e300})
  return 1
end
