-- ends: time
function F(o)
  for _ in function() return 1 end do end
end
