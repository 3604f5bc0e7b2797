-- ends: bound
function F(o)
  local list = {}
  while true do
    local ok, e = pcall(error, {list})
    list[#list + 1] = e
  end
end
