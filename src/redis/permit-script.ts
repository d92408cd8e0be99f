import { burstMs, growthPerSuccess, leastRateFactor, longestPauseMs } from "../rate-limiter/adaptive-rate.ts";
import { longestPaces, paceSteps } from "../rate-limiter/reserve.ts";
import { arrivalGraceMs, permitsPerPace } from "../rate-limiter/sliding-window-log.ts";

// Longer than any gap between the requests of a live process, so that the count of short windows does not expire.
const leastKeptMs = 60_000;

/** A process that does not ask so long after its permit has come back may have ended, or wait no more. */
const lateMs = 1_000;

/** A clock of Redis may be set back by so much; what is further ahead is not ours. */
const longestSetBackMs = 86_400_000;

/**
 * Writes the permits that a process reports, and then grants as many of those that it wants as every window has, in one
 * step. It may be repeated, as each permit has a name.
 *
 * Three keys. `permits`: a sorted set of all permits by the time of their responses, those in flight by the end of their
 * lease; `others`: those of them that are of priorities 0 to 8; `state`: everything else, as JSON. The clock is that of Redis:
 * processes send durations, never times. The reserve is that of `reserve.ts`.
 *
 * What is not ours in the keys is removed, and the data gets a new name: so each process writes its permits anew.
 */
export const permitScript = `
local request = cjson.decode(ARGV[1])
local permitsKey, othersKey, stateKey = KEYS[1], KEYS[2], KEYS[3]

local time = redis.call('TIME')
local clock = time[1] * 1000 + time[2] / 1000
local state, now
-- No time of ours is further ahead than so much, and a little for its rounding.
local function latestTime(aheadMs) return now + aheadMs + 2 end
local function readState()
  state = cjson.decode(redis.call('GET', stateKey))
  -- If the clock is set back, no time has passed.
  now = math.max(clock + state.aheadMs, state.lastAt)
  state.longestLeaseMs = math.max(state.longestLeaseMs, request.leaseMs)
  assert(type(state.data) == 'string' and state.rateFactor > 0 and state.rateFactor <= 1)
  assert(state.aheadMs >= 0 and state.lastAt <= clock + state.aheadMs + ${longestSetBackMs} and state.longestMs < 1e12)
  assert(state.pausedUntil <= latestTime(${longestPauseMs}) and state.slowedAt <= latestTime(0))
  for _, permit in ipairs(state.taken) do assert(permit.at <= latestTime(0)) end
  for _, waiter in ipairs(state.waiting) do assert(waiter.dueAt <= latestTime(${leastKeptMs})) end
end
if not pcall(readState) then
  now, state = clock, { data = request.newData, rateFactor = 1, pausedUntil = 0, slowedAt = 0, taken = {}, waiting = {} }
  state.longestMs, state.longestLeaseMs = 0, request.leaseMs
end
state.aheadMs, state.lastAt = now - clock, math.floor(now)

-- Lua formats numbers with 14 digits; times have 16.
local function exact(ms)
  return string.format('%.3f', ms)
end

local permitAheadMs = math.max(state.longestLeaseMs, ${arrivalGraceMs})
for _, key in ipairs({ permitsKey, othersKey }) do
  local removed = redis.pcall('ZREMRANGEBYSCORE', key, '(' .. exact(latestTime(permitAheadMs)), '+inf')
  if type(removed) == 'table' then redis.call('DEL', key) end
  if removed ~= 0 then state.data = request.newData end
end

local function writePermit(id, isLast, at)
  redis.call('ZADD', permitsKey, exact(at), id)
  if not isLast then redis.call('ZADD', othersKey, exact(at), id) end
end

for _, permit in ipairs(request.permits) do
  local id, isLast, age = permit[1], permit[2], permit[3]
  if age == 'unsent' then
    redis.call('ZREM', permitsKey, id)
    redis.call('ZREM', othersKey, id)
    for index = #state.taken, 1, -1 do
      if state.taken[index].id == id then table.remove(state.taken, index) end
    end
  else
    -- The clock of a process may be set back.
    writePermit(id, isLast, now - (age == 'in flight' and -request.leaseMs or math.max(age, -permitAheadMs)))
  end
end

state.rateFactor = math.min(1, state.rateFactor + request.succeeded * ${growthPerSuccess})
if request.refusedForMs then
  -- Requests that left together are one sign, of whatever process.
  if state.pausedUntil <= now and now - state.slowedAt >= ${burstMs} then
    state.slowedAt = math.floor(now)
    state.rateFactor = math.max(${leastRateFactor}, state.rateFactor / 2)
  end
  state.pausedUntil = math.max(state.pausedUntil, math.ceil(now + request.refusedForMs))
end
local pausedMs = math.max(0, state.pausedUntil - now)

local function count(key, ms)
  return redis.call('ZCOUNT', key, '(' .. exact(now - ms), '+inf')
end

-- The permits in use, and how many may be in use for this class to get one.
local used, limits = {}, {}
local available, share, shareMs = math.huge, nil, 0
for index, window in ipairs(request.windows) do
  state.longestMs = math.max(state.longestMs, window.countedMs)
  local limit = window.limit
  -- Another program may have written to the sets.
  used[index] = math.min(limit, count(permitsKey, window.countedMs))
  local others = math.min(limit, count(othersKey, window.countedMs))
  local isLongest = index == #request.windows
  if not isLongest then limit = math.max(1, math.floor(limit * state.rateFactor)) end
  limits[index] = limit
  if request.isLast and request.reserve > 0 then
    local left, demand = math.ceil(request.reserve * limit - 1e-9), math.ceil(others * 11 / 10)
    local kept = math.min(limit - 1, math.max(left, demand))
    limits[index] = limit - math.max(0, kept - others)
    if isLongest and others > 0 then share, shareMs = limit - kept, window.countedMs end
  end
  available = math.min(available, limits[index] - used[index])
end

local function usedByLast(ms)
  return count(permitsKey, ms) - count(othersKey, ms)
end

-- What is left of the share at times ahead: the same times for as long as a call waits.
local ahead = {}
if share and usedByLast(shareMs) < share / 2 then
  available = math.min(available, math.ceil(share / 2) - usedByLast(shareMs))
elseif share then
  local stepMs = shareMs / ${paceSteps}
  for step = 1, ${paceSteps} do
    local inMs = (math.floor(now / stepMs) + step) * stepMs - now
    table.insert(ahead, { inMs = inMs, left = math.max(0, share - usedByLast(shareMs - inMs)) })
  end
end

-- The time until a permit of priority 9 is as far behind the one ten before it as the pace asks.
local function paceWaitMs(before)
  local sinceMs, waitMs = now - before.at, 0
  for _, step in ipairs(ahead) do
    waitMs = math.max(waitMs, (${permitsPerPace} * step.inMs - step.left * sinceMs) / (${permitsPerPace} + step.left))
  end
  return math.ceil(math.min(${longestPaces * permitsPerPace} * shareMs / share - sinceMs, waitMs))
end
if #ahead > 0 then
  local paced = 0
  for _, permit in ipairs(state.taken) do
    if paceWaitMs(permit) > 0 then paced = paced + 1 end
  end
  available = math.min(available, ${permitsPerPace} - paced)
end

-- Processes that wait take turns, priority 9 after the others. Each was told when its permit comes back: from then on this one
-- leaves it to those before.
local waiting, position, behind, due = {}, nil, 1, 0
for _, waiter in ipairs(state.waiting) do
  local isOwn = waiter.process == request.process and waiter.isLast == request.isLast
  local isLive = waiter.dueAt + ${lateMs} >= now
  if isLive and isOwn then
    position = behind
  elseif isLive then
    table.insert(waiting, waiter)
    if request.isLast or not waiter.isLast then
      behind = #waiting + 1
      if not position and waiter.dueAt <= now then due = due + 1 end
    end
  end
end
local granted = pausedMs > 0 and 0 or math.max(0, math.min(#request.ids, available - due))
if granted > 0 or not position then position = behind end

for index = 1, granted do
  writePermit(request.ids[index], request.isLast, now + request.leaseMs)
  if request.isLast then
    table.insert(state.taken, { id = request.ids[index], at = math.ceil(now) })
    if #state.taken > ${permitsPerPace} then table.remove(state.taken, 1) end
  end
end

-- The earliest time at which every window has a permit: those in flight may be responded to now.
local waitMs, younger = 0, {}
for index, window in ipairs(request.windows) do
  used[index] = used[index] + granted
  for sixths = 1, 6 do
    local ageMs = sixths * window.countedMs / 6
    local all, byOthers = count(permitsKey, ageMs), count(othersKey, ageMs)
    table.insert(younger, { ageMs, math.min(window.limit, all), math.min(window.limit, byOthers) })
  end
  local rank = math.max(0, limits[index] - position)
  local windowWaitMs = 0
  if rank < used[index] then
    local leaving = redis.call('ZREVRANGE', permitsKey, rank, rank, 'WITHSCORES')
    windowWaitMs = math.min(leaving[2], now) + window.countedMs - now
  end
  if index == #request.windows and #ahead > 0 and #state.taken == ${permitsPerPace} then
    windowWaitMs = math.max(windowWaitMs, paceWaitMs(state.taken[1]))
  end
  if request.isLast and request.reserve > 0 and used[index] > 0 then
    -- A permit that leaves the window changes what priority 9 may use, and its pace (D275).
    local oldest = redis.call('ZREVRANGE', permitsKey, used[index] - 1, used[index] - 1, 'WITHSCORES')
    windowWaitMs = math.min(windowWaitMs, math.min(oldest[2], now) + window.countedMs - now)
  end
  waitMs = math.max(waitMs, windowWaitMs)
end
-- The permits that are available are left to the processes before this one.
if granted == 0 and waitMs == 0 then waitMs = ${lateMs} end
if granted == #request.ids then waitMs = 0 else waitMs = math.max(waitMs, pausedMs) end
if waitMs > 0 then
  -- A process that waits longer than a minute asks in between.
  local dueAt = math.ceil(now + math.min(waitMs, ${leastKeptMs}))
  table.insert(waiting, position, { process = request.process, isLast = request.isLast, dueAt = dueAt })
end
if #request.ids > 0 then state.waiting = waiting end

local keptMs = math.ceil(math.max(permitAheadMs, state.pausedUntil - now) + state.longestMs + ${leastKeptMs})
redis.call('SET', stateKey, cjson.encode(state), 'PX', keptMs)
for _, key in ipairs({ permitsKey, othersKey }) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', exact(now - state.longestMs))
  redis.call('PEXPIRE', key, keptMs)
end

-- A Redis that was restarted may have old data.
local serverInfo = redis.pcall('INFO', 'server')
local runId = type(serverInfo) == 'string' and string.match(serverInfo, 'run_id:(%w+)') or ''
return cjson.encode({
  data = state.data .. runId, granted = granted, waitMs = waitMs, pausedMs = pausedMs, rateFactor = state.rateFactor,
  used = used, younger = younger,
})
`;
