-- ends: error
-- error: no order
function F(o)
  table.sort({3, 2, 1}, function() error('no order') end)
end
