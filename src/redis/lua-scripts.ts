import { burstMs, growthPerSuccess, leastRateFactor } from "../rate-limiter/adaptive-rate.ts";
import { aliveForMs, recoveryMs } from "./script-protocol.ts";

// Longer than any gap between the requests of a live process, so that a short window's count does not expire.
const leastKeptMs = 60_000;

/**
 * The common beginning of both scripts: the request, the time, and the state.
 *
 * Two keys. `permits`: a sorted set of the permits by their time, those in flight by the end of their lease, and the name
 * of the epoch at 0. `state`: everything else, as JSON. Both contain the epoch, and the state the id of the Redis process,
 * which detects the loss of either key, an old snapshot, and a late replica.
 */
const begin = `
local request = cjson.decode(ARGV[1])
local permitsKey, stateKey = KEYS[1], KEYS[2]
local me = request.process

local text = redis.call('GET', stateKey)
local state = text and cjson.decode(text)
  or { rateFactor = 1, pausedUntil = 0, recoveringUntil = 0, longestMs = 0, lastAt = 0, aheadMs = 0, queue = {}, alive = {} }

-- The clock of Redis; if it is set back, no time has passed.
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000 + state.aheadMs
if now < state.lastAt then
  state.aheadMs = state.aheadMs + state.lastAt - now
  now = state.lastAt
end
state.lastAt = math.floor(now)

local function recover()
  if state.recoveringUntil <= now then state.recoveringUntil = math.ceil(now + ${recoveryMs}) end
end

-- Lua formats numbers with 14 digits; times have 16.
local function exact(ms)
  return string.format('%.3f', ms)
end

local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local remembers = state.epoch and state.run == run and redis.call('ZSCORE', permitsKey, 'epoch:' .. state.epoch)
if not remembers then
  if state.epoch then recover() end
  state.epoch, state.run = request.newEpoch, run
  redis.call('ZREMRANGEBYSCORE', permitsKey, 0, 0)
  redis.call('ZADD', permitsKey, 0, 'epoch:' .. state.epoch)
end
if request.epoch and request.epoch ~= state.epoch then recover() end

local others = 0
state.alive[me] = state.lastAt
for name, seenAt in pairs(state.alive) do
  if now > seenAt + ${aliveForMs} then state.alive[name] = nil elseif name ~= me then others = others + 1 end
end

for _, window in ipairs(request.windows) do
  state.longestMs = math.max(state.longestMs, window.countedMs)
end

local function limitOf(window)
  if window.isAdaptive then return math.max(1, math.floor(window.limit * state.rateFactor)) end
  return window.limit
end

local function usedIn(window)
  return redis.call('ZCOUNT', permitsKey, '(' .. exact(now - window.countedMs), '+inf')
end

-- Writes the state, and returns the common part of both replies.
local function finish(used)
  local newest = redis.call('ZREVRANGE', permitsKey, 0, 0, 'WITHSCORES')[2]
  local reachesTo = math.max(now, newest, state.pausedUntil, state.recoveringUntil)
  local keptMs = math.ceil(reachesTo - now + state.longestMs + ${leastKeptMs})
  redis.call('SET', stateKey, cjson.encode(state), 'PX', keptMs)
  redis.call('PEXPIRE', permitsKey, keptMs)
  local pausedMs = math.max(0, state.pausedUntil - now)
  return { epoch = state.epoch, rateFactor = state.rateFactor, pausedMs = pausedMs, used = used, others = others }
end
`;

// How long a process may be late before its reserved permits go to the next ones in the queue.
const graceMs = 250;
// When a late process leaves the queue.
const queueExpiryMs = 5_000;
// The longest wait after a permit is available, and the addition for each process before in the queue, as those may have
// ended.
const maxQueueWaitMs = 1_000;
const waitPerProcessMs = 100;

/**
 * Grants as many permits as are available in every window, in one step.
 *
 * Waiting processes form a queue, ordered by the time since their last permit. Each is due an equal part of the tightest
 * limit, at least one permit; the rest goes to the requesting process. A permit is reserved only for processes whose wait
 * has ended, and only briefly, so that a killed process blocks none.
 *
 * An example: 10 permits are available, and A, B and C wait in this order for 20, 1 and 20 permits; each is due 3 of them.
 * C asks first: 3 are reserved for A and 1 for B, so it gets its 3, and the 3 that nobody is due. A gets its 3, and B its 1.
 */
export const acquireScript = `${begin}
local demand = #request.ids
local closedMs = math.max(state.pausedUntil, state.recoveringUntil) - now

local available, tightest, used = math.huge, math.huge, {}
for index, window in ipairs(request.windows) do
  local limit = limitOf(window)
  used[index] = usedIn(window)
  tightest = math.min(tightest, limit)
  available = math.min(available, limit - used[index])
end
available = closedMs > 0 and 0 or math.max(0, available)

local since = state.queue[me] and state.queue[me].since or now
state.queue[me] = nil
local waiting = 1
for name, other in pairs(state.queue) do
  if now > other.dueAt + ${queueExpiryMs} then state.queue[name] = nil else waiting = waiting + 1 end
end
local equalPart = math.max(1, math.floor(tightest / waiting))

-- The permits that are reserved for the processes before and after this one, and the numbers of those processes.
local reservedBefore, reservedAfter, before, after = 0, 0, 0, 0
for name, other in pairs(state.queue) do
  if now <= other.dueAt + ${graceMs} then
    local reserved = now + 1 >= other.dueAt and math.min(other.demand, equalPart) or 0
    if other.since < since or other.since == since and name < me then
      reservedBefore, before = reservedBefore + reserved, before + 1
    else
      reservedAfter, after = reservedAfter + reserved, after + 1
    end
  end
end

local due = math.max(0, math.min(demand, equalPart, available - reservedBefore))
local left = math.max(0, available - reservedBefore - due - reservedAfter)
local granted = due + math.min(demand - due, left)
for index = 1, granted do
  redis.call('ZADD', permitsKey, exact(now + request.leaseMs), request.ids[index])
end
for index in ipairs(used) do used[index] = used[index] + granted end

-- The earliest time at which every window has so many permits, one window later for each time that they fill it; permits
-- in flight may be responded to now.
local function availableInMs(permits)
  local waitMs = 0
  for index, window in ipairs(request.windows) do
    local limit = limitOf(window)
    local rounds = math.floor((permits - 1) / limit)
    local mustLeave = used[index] + permits - rounds * limit - limit
    waitMs = math.max(waitMs, rounds * window.countedMs)
    if mustLeave > 0 then
      local rank = used[index] - mustLeave
      local leaving = redis.call('ZREVRANGE', permitsKey, rank, rank, 'WITHSCORES')
      waitMs = math.max(waitMs, math.min(leaving[2], now) + (rounds + 1) * window.countedMs - now)
    end
  end
  return waitMs
end

local waitMs = 0
if granted < demand then
  if granted > 0 then since, before = now, before + after end
  -- Assumes one permit for each process before: better a little early than an idle permit.
  local reserved = available - granted
  local longestMs = reserved > 0 and ${graceMs} or availableInMs(1) + ${maxQueueWaitMs} + before * ${waitPerProcessMs}
  waitMs = math.max(closedMs, math.min(availableInMs(math.max(reserved, before) + 1), longestMs))
  state.queue[me] = { since = since, demand = demand - granted, dueAt = now + waitMs }
end

local reply = finish(used)
reply.granted, reply.waitMs = granted, waitMs
return cjson.encode(reply)
`;

/** Writes the states of permits, known or not; a 429 pauses all processes. */
export const releaseScript = `${begin}
if request.isReturning then recover() end

for _, permit in ipairs(request.permits) do
  local id, state = permit[1], permit[2]
  if state == 'unsent' then
    redis.call('ZREM', permitsKey, id)
  else
    local at = state == 'in flight' and now + request.leaseMs or now - state
    redis.call('ZADD', permitsKey, exact(at), id)
  end
end
-- Keeps the name of the epoch at 0.
redis.call('ZREMRANGEBYSCORE', permitsKey, '(0', exact(now - state.longestMs))

state.rateFactor = math.min(1, state.rateFactor + request.succeeded * ${growthPerSuccess})
if request.refusedForMs then
  -- Requests that left together are one sign, of whatever process. A state of an earlier version has no such time.
  if state.pausedUntil <= now and now - (state.slowedAt or 0) >= ${burstMs} then
    state.slowedAt = math.floor(now)
    state.rateFactor = math.max(${leastRateFactor}, state.rateFactor / 2)
  end
  state.pausedUntil = math.max(state.pausedUntil, math.ceil(now + request.refusedForMs))
end

local used = {}
for index, window in ipairs(request.windows) do used[index] = usedIn(window) end
return cjson.encode(finish(used))
`;
