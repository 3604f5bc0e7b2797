-- Each place of the subject is looked up in a set of a megabyte, twice.
-- ends: time
function F(o)
  o.n = ("x"):rep(1000000):find("%f[" .. ("ab"):rep(499990) .. "]")
  return o
end
