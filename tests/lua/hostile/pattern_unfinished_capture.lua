-- ends: error
-- error: unfinished capture
function F(o)
  return ('a'):find('(a')
end
