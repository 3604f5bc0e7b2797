-- ends: error
-- error: call function getmetatable is not supported in karmada customized resourceinterpreter.
function F(o)
  getmetatable('').__index = nil
end
