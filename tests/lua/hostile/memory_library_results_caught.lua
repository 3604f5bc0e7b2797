-- ends: memory
-- error: needs more memory than
function F(o)
  while true do pcall(require('bound').make, o) end
end
