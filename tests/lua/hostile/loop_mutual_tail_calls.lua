-- ends: time
function G(o) return F(o) end
function F(o) return G(o) end
