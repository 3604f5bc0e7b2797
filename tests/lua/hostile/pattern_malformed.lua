-- ends: error
-- error: malformed pattern (missing ']')
function F(o)
  return ('a'):find('[a')
end
