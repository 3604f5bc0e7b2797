-- ends: bound
function F(o)
  local keep = {}
  while true do
    for k, v in pairs(o.list) do keep[#keep + 1] = {k, v} end
  end
end
