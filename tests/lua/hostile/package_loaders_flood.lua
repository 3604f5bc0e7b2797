-- ends: time
function F(o)
  local lower = string.lower
  for i = 1, 1000000 do package.loaders[i] = lower end
  return require("some module that is not there")
end
