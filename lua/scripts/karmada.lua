-- The library "karmada": what customizations of many kinds need. Scripts reach it with
--   local karmada = require("karmada")
-- It comes with this control plane; upstream's does not have it. docs/customizing.md describes each function.
--
-- It is read once for a Lua state, which scripts share one after the other. So its functions keep nothing from
-- one call to the next, and every table that they return is new.
--
-- `items` are those of AggregateStatus, with clusterName and status; nil counts as none.
local karmada = {}

local MAX_MESSAGE = 32768 -- what the API server lets the message of a condition have

-- Returns the statuses of the items that have one.
function karmada.reported(items)
  local statuses = {}
  for _, item in ipairs(items or {}) do
    if item.status ~= nil then
      statuses[#statuses + 1] = item.status
    end
  end
  return statuses
end

-- Returns the sum of a field of the statuses; nil when no status has it.
function karmada.total(items, field)
  local total
  for _, item in ipairs(items or {}) do
    local value = (item.status or {})[field]
    if value ~= nil then
      total = (total or 0) + value
    end
  end
  return total
end

-- As total, but 0 when no status has it.
function karmada.sum(items, field)
  return karmada.total(items, field) or 0
end

-- Returns a field of the first status in which it is neither nil nor ""; nil when none has it.
function karmada.first(items, field)
  for _, item in ipairs(items or {}) do
    local value = (item.status or {})[field]
    if value ~= nil and value ~= "" then
      return value
    end
  end
  return nil
end

-- As first, of the last such status.
function karmada.last(items, field)
  local last
  for _, item in ipairs(items or {}) do
    local value = (item.status or {})[field]
    if value ~= nil and value ~= "" then
      last = value
    end
  end
  return last
end

-- Returns whether the status is one of this generation of the template: the member has been given it, and its
-- controller has seen what it was given. ReflectStatus has to add `generation` and
-- `resourceTemplateGeneration` to the status for it.
function karmada.isCurrent(status, generation)
  return (status.resourceTemplateGeneration or 0) == (generation or 0)
    and (status.observedGeneration or 0) == (status.generation or 0)
end

-- Returns whether isCurrent is true of all items. One without status is not current.
function karmada.upToDate(items, generation)
  for _, item in ipairs(items or {}) do
    if item.status == nil or not karmada.isCurrent(item.status, generation) then
      return false
    end
  end
  return true
end

-- Returns the texts with ", " between them, as many whole ones as the message of a condition can have.
function karmada.joined(texts)
  local result = ""
  for i, text in ipairs(texts) do
    local longer = i == 1 and text or result .. ", " .. text
    if #longer > MAX_MESSAGE then
      break
    end
    result = longer
  end
  return result
end

-- Returns how bad the condition is: 0 good, 1 unknown, 2 a status that no standard knows, 3 bad.
local function badness(condition, rule)
  if condition.status == "Unknown" then
    return 1
  end
  local true_is_bad = (rule.bad or {})[condition.type] == true
    or (rule.good ~= nil and rule.good[condition.type] ~= true)
  if condition.status ~= "True" and condition.status ~= "False" then
    return 2
  end
  return (condition.status == "True") == true_is_bad and 3 or 0
end

-- Returns which generation of the template the condition is about; 0 when that is not known.
local function generationOf(condition, status)
  local current = condition.observedGeneration ~= nil and condition.observedGeneration == status.generation
  return current and status.resourceTemplateGeneration or 0
end

-- Returns the conditions, and in addition those that follow from others of them: see `opposite`.
local function withOpposites(conditions, opposite)
  if opposite == nil then
    return conditions
  end
  local all = {}
  for i, condition in ipairs(conditions) do
    all[i] = condition
  end
  for _, condition in ipairs(conditions) do
    if opposite[condition.type] ~= nil and condition.status == "True" then
      all[#all + 1] = {
        type = opposite[condition.type], status = "False", reason = condition.reason, message = condition.message,
        lastTransitionTime = condition.lastTransitionTime,
      }
    end
  end
  return all
end

-- Adds a cluster's condition to the merged one, which has the same status.
local function merge(known, cluster, condition)
  for _, time in ipairs({ "lastTransitionTime", "lastUpdateTime" }) do
    if (condition[time] or "") > (known[time] or "") then
      known[time] = condition[time]
    end
  end
  local message = condition.message or ""
  if message ~= "" then
    local named = (cluster or "") .. "=" .. message
    table.insert(known.message, #named <= MAX_MESSAGE and named or message)
  end
end

-- Returns what is said of a type of which clusters are silent: "no report of a, b"; "" when all report it.
local function silence(reports, reporters)
  local silent = {}
  for _, report in ipairs(reports) do
    if not reporters[report] then
      silent[#silent + 1] = (#silent == 0 and "no report of " or "") .. (report.clusterName or "")
    end
  end
  return karmada.joined(silent)
end

-- Adds one cluster's condition to what is known of its type.
local function addTo(votes, report, condition, rule)
  local known = votes.worst
  if known == nil or badness(condition, rule) > badness(known, rule) then
    known = { type = condition.type or "", status = condition.status, reason = condition.reason, message = {} }
    for _, field in ipairs(rule.fields or {}) do
      known[field] = condition[field]
    end
    votes.worst = known
  end
  if condition.status == known.status then
    merge(known, report.clusterName, condition)
  end
  votes.reporters[report] = true
  local generation = rule.generations and generationOf(condition, report.status or {}) or 0
  votes.oldest = math.min(votes.oldest or generation, generation)
end

-- Returns the condition that clusters have together, of all votes on one type.
local function verdict(votes, reports, rule)
  local condition = votes.worst
  condition.message = karmada.joined(condition.message)
  condition.observedGeneration = votes.oldest > 0 and votes.oldest or nil
  if condition.status == "True" and badness(condition, rule) == 0 then
    local silent = silence(reports, votes.reporters)
    if silent ~= "" then
      condition.status, condition.message = "Unknown", silent
      condition.reason = not rule.no_reason and "NotReported" or nil
      condition.observedGeneration = nil
    end
  end
  return condition
end

-- Returns the conditions of several clusters as one condition for each type, in the order in which types first
-- come up; nil for none. The worst status wins: False over Unknown over True, the other way round for types of
-- which True is bad. Messages are those of all clusters with that status, as cluster=message. A type that should
-- be True, and is wherever a cluster reports it, is Unknown with the reason NotReported as long as a cluster does
-- not report it. A cluster where the object is healthy without any condition has none to report.
--
-- reports   items, or tables with clusterName and conditions (and status, for generations)
-- rule      a table, or nil:
--   bad       types of which True is bad: { Stalled = true }
--   good      types of which True is good, if it is bad of all others: { Ready = true }
--   opposite  types that are True instead of another being False: { NotReady = "Ready" }
--   fields    further fields that the merged condition has from the worst one: { "severity" }
--   generations  true: observedGeneration is the oldest generation of the template that a cluster is about
--   no_reason    true: the kind's conditions have no reason
function karmada.mergeConditions(reports, rule)
  rule = rule or {}
  local order, votes, counted = {}, {}, {}
  for _, report in ipairs(reports or {}) do
    local conditions = report.conditions or (report.status or {}).conditions or {}
    if #conditions > 0 or report.health ~= "Healthy" then
      counted[#counted + 1] = report
    end
    for _, condition in ipairs(withOpposites(conditions, rule.opposite)) do
      local name = condition.type or ""
      if votes[name] == nil then
        votes[name] = { reporters = {} }
        order[#order + 1] = name
      end
      addTo(votes[name], report, condition, rule)
    end
  end
  local merged = {}
  for i, name in ipairs(order) do
    merged[i] = verdict(votes[name], counted, rule)
  end
  return #merged > 0 and merged or nil
end

-- Returns the conditions of several clusters side by side, as upstream's customizations of Flux and Kyverno do, in the
-- order of clusters: those equal in type, status and reason are one, with the messages as cluster=message. While a
-- cluster has no condition, and the object is not healthy there, a Ready that is Unknown with the reason NotReported
-- stands before the first Ready that is True: `kubectl get` shows the first condition of a type.
function karmada.listConditions(items)
  local listed, silent = {}, {}
  for _, item in ipairs(items or {}) do
    local conditions = (item.status or {}).conditions or {}
    if #conditions == 0 and item.health ~= "Healthy" then
      silent[#silent + 1] = (#silent == 0 and "no report of " or "") .. (item.clusterName or "")
    end
    for _, condition in ipairs(conditions) do
      local message = (item.clusterName or "") .. "=" .. (condition.message or "")
      local same
      for _, other in ipairs(listed) do
        if other.type == condition.type and other.status == condition.status and other.reason == condition.reason then
          same = other
        end
      end
      if same == nil then
        condition.message = #message <= MAX_MESSAGE and message or condition.message
        listed[#listed + 1] = condition
      elseif #same.message + #message + 2 <= MAX_MESSAGE then
        same.message = same.message .. ", " .. message
      end
    end
  end
  for i, condition in ipairs(listed) do
    if #silent > 0 and condition.type == "Ready" and condition.status == "True" then
      table.insert(listed, i, {
        type = "Ready", status = "Unknown", reason = "NotReported", message = karmada.joined(silent),
        lastTransitionTime = condition.lastTransitionTime,
      })
      break
    end
  end
  return listed
end

-- Returns the object's condition of this type; nil when it has none.
function karmada.condition(object, type)
  for _, condition in ipairs((object.status or {}).conditions or {}) do
    if condition.type == type then
      return condition
    end
  end
  return nil
end

-- Why an object whose controller has not seen its generation is not healthy.
local function unseen(generation)
  return "its controller has not seen generation " .. generation .. " yet"
end

-- Returns why the object's status is not about its present spec; nil if it is, or does not say.
function karmada.behind(object)
  local generation = (object.metadata or {}).generation or 0
  local observed = tonumber((object.status or {}).observedGeneration)
  if observed ~= nil and observed < generation then
    return unseen(generation)
  end
  return nil
end

-- Returns "its phase is Failed: why", without the last part where there is none (nil or ""), or "it has no phase yet".
function karmada.describe(what, value, why)
  if value == nil or value == "" then
    return "it has no " .. what .. " yet"
  end
  local message = "its " .. what .. " is " .. value
  return (why or "") ~= "" and message .. ": " .. why or message
end

-- Returns what a condition says of itself, or else its status and reason.
function karmada.messageOf(condition)
  if (condition.message or "") ~= "" then
    return condition.message
  end
  return karmada.describe("condition " .. (condition.type or ""), condition.status or "not set", condition.reason)
end

-- Returns true if the object's condition of this type is True, else false and why not. With a generation the
-- condition has to be about it, if it says which one it is about.
function karmada.holds(object, name, generation)
  local condition = karmada.condition(object, name)
  if condition == nil then
    return false, "it has no condition " .. name .. " yet"
  end
  if condition.status ~= "True" then
    return false, karmada.messageOf(condition)
  end
  if generation ~= nil and (condition.observedGeneration or generation) < generation then
    return false, unseen(generation)
  end
  return true
end

-- Returns true if the object's condition of this type is True and its status about its present spec, else false and
-- why not.
function karmada.healthBy(object, name)
  local behind = karmada.behind(object)
  if behind ~= nil and karmada.condition(object, name) ~= nil then
    return false, behind
  end
  return karmada.holds(object, name)
end

-- Types of which True is bad, whatever the kind.
local BAD = {
  Failed = true, Stalled = true, Degraded = true, NotReady = true, InvalidSpec = true, ReplicaFailure = true,
}

-- Returns how much the condition says about why the object is not healthy; 0: nothing.
local function weightOf(condition)
  if BAD[condition.type or ""] then
    return condition.status == "True" and 4 or 0
  end
  if condition.status == "False" then
    return condition.type == "Ready" and 3 or 2
  end
  return condition.status == "Unknown" and 1 or 0
end

-- Returns the first of the fields that is a text, and its name; nil for none.
local function textIn(value, fields)
  for _, field in ipairs(fields) do
    if type(value) == "table" and type(value[field]) == "string" and value[field] ~= "" then
      return value[field], field
    end
  end
  return nil
end

-- Returns the text of the condition that says most; nil when none says anything.
local function worstText(status)
  local lists = { status.conditions or {} }
  for _, parent in ipairs(status.parents or {}) do -- of a route
    lists[#lists + 1] = parent.conditions or {}
  end
  local text, weight = nil, 0
  for _, conditions in ipairs(lists) do
    for _, condition in ipairs(conditions) do
      local own = textIn(condition, { "message", "reason" })
      if own ~= nil and weightOf(condition) > weight then
        text, weight = own, weightOf(condition)
      end
    end
  end
  return text
end

-- Returns why an object that is not healthy is not, in the words of its own controller if it has some: for the
-- second result of InterpretHealth. `known`, if it is neither nil nor "", is the reason.
function karmada.reason(object, known)
  if (known or "") ~= "" then
    return known
  end
  local status = object.status
  if status == nil or next(status) == nil then
    return "its controller has reported nothing yet"
  end
  local generation, seen = (object.metadata or {}).generation, status.observedGeneration
  if type(generation) == "number" and type(seen) == "number" and seen < generation then
    return "its controller has not seen generation " .. generation .. " yet"
  end
  local text = worstText(status)
  for _, place in ipairs({ status, status.state or {}, status.applicationState or {}, status.jobStatus or {} }) do
    text = text or textIn(place, { "message", "errorMessage", "error" })
  end
  if text ~= nil then
    return text
  end
  for _, place in ipairs({ status, status.state or {}, status.applicationState or {}, status.jobStatus or {} }) do
    local value, field = textIn(place, { "phase", "state", "health" })
    if value ~= nil then
      return "its " .. field .. " is " .. value
    end
  end
  return "its status does not say that it is ready"
end

-- Returns a list of dependencies, empty at first, and the function that adds to it a reference to an object:
-- add(apiVersion, kind, name, namespace). It leaves out references without apiVersion, kind or name, and those that
-- the list has.
function karmada.dependencies()
  local dependencies, seen = {}, {}
  local function add(apiVersion, kind, name, namespace)
    for _, part in ipairs({ apiVersion or "", kind or "", name or "" }) do
      if type(part) ~= "string" or part == "" then
        return
      end
    end
    local key = table.concat({ apiVersion, kind, namespace or "", name }, "|")
    if not seen[key] then
      seen[key] = true
      dependencies[#dependencies + 1] = { apiVersion = apiVersion, kind = kind, namespace = namespace, name = name }
    end
  end
  return dependencies, add
end

-- Sorts the dependencies by kind and name, and returns them.
function karmada.sorted(dependencies)
  table.sort(dependencies, function(a, b)
    return a.kind .. "/" .. a.name < b.kind .. "/" .. b.name
  end)
  return dependencies
end

-- Returns whether the object waits in a queue of Kueue, which writes its `suspend` then.
function karmada.isQueued(object)
  return ((object.metadata or {}).labels or {})["kueue.x-k8s.io/queue-name"] ~= nil
end

-- Returns whether the template's user leaves replicas to somebody in the member, an autoscaler for example.
function karmada.retainsReplicas(template)
  return ((template.metadata or {}).labels or {})["resourcetemplate.karmada.io/retain-replicas"] == "true"
end

return karmada
