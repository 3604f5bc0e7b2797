-- ends: error
-- error: pattern too complex
function F(o)
  return ('a'):rep(1000):find(('a?'):rep(300) .. ('a'):rep(300) .. '$')
end
