-- ends: error
-- error: width or precision too long
function F(o)
  return #string.format('%1000000000d', 1)
end
