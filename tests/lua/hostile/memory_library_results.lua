-- ends: memory
-- error: needs more memory than
function F(o)
  while true do require('bound').make(o) end
end
