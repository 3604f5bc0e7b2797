-- ends: fine
function F(o)
  _G._G = {}
  _G = nil
  return 1
end
