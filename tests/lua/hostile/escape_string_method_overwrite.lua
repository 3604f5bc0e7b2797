-- ends: fine
function string.upper() return 'mine' end
function F(o)
  return ('x'):upper()
end
