import { bookScript } from "./book-script.ts";

// A process that was told when to come has this long to come, before its places go to those behind it.
const graceMs = 250;
// After this long it has left the line.
const forgottenAfterMs = 5_000;
// Nobody waits longer than this beyond the time at which a place comes free, and a little for each that stands before:
// those may have left the line.
const longestTurnMs = 1_000;
const turnMs = 100;

/**
 * Grants as many places as are free in every window, in one step.
 *
 * Where several processes wait, they stand in a line, those first that have waited longest since their last place. Each
 * in turn is due an even part of the tightest limit, at least one place; what is left goes to whoever asks. A place is
 * kept only for those whose time it is to ask, and not for long: nothing lies idle for a process that was killed.
 */
export const takeScript = `${bookScript}
local wants, me = #request.ids, request.process
local closedMs = math.max(book.pausedUntil, book.settlingUntil) - now

local free, tightest, used = math.huge, math.huge, {}
for index, window in ipairs(request.windows) do
  local limit = limitOf(window)
  used[index] = usedIn(window)
  tightest = math.min(tightest, limit)
  free = math.min(free, limit - used[index])
end
free = closedMs > 0 and 0 or math.max(0, free)

local since = book.line[me] and book.line[me].since or now
book.line[me] = nil
local waiting = 1
for name, other in pairs(book.line) do
  if now > other.dueAt + ${forgottenAfterMs} then book.line[name] = nil else waiting = waiting + 1 end
end
local part = math.max(1, math.floor(tightest / waiting))

-- The places that are kept now for those before and after this process, and how many those are.
local keptBefore, keptAfter, before, after = 0, 0, 0, 0
for name, other in pairs(book.line) do
  if now <= other.dueAt + ${graceMs} then
    local places = math.min(other.wants, part)
    local kept = now + 1 >= other.dueAt and places or 0
    if other.since < since or other.since == since and name < me then
      keptBefore, before = keptBefore + kept, before + 1
    else
      keptAfter, after = keptAfter + kept, after + 1
    end
  end
end

local due = math.max(0, math.min(wants, part, free - keptBefore))
local left = math.max(0, free - keptBefore - due - keptAfter)
local granted = due + math.min(wants - due, left)
for index = 1, granted do
  redis.call('ZADD', placesKey, exact(now + request.leaseMs), request.ids[index])
end
for index in ipairs(used) do used[index] = used[index] + granted end

-- When \`places\` can be free in every window at the soonest, one window later for each time that they fill it; what is
-- in flight may be answered right now.
local function etaMs(places)
  local eta = 0
  for index, window in ipairs(request.windows) do
    local limit = limitOf(window)
    local rounds = math.floor((places - 1) / limit)
    local mustLeave = used[index] + places - rounds * limit - limit
    eta = math.max(eta, rounds * window.countedMs)
    if mustLeave > 0 then
      local leaving = redis.call('ZREVRANGE', placesKey, used[index] - mustLeave, used[index] - mustLeave, 'WITHSCORES')
      eta = math.max(eta, math.min(leaving[2], now) + (rounds + 1) * window.countedMs - now)
    end
  end
  return eta
end

local waitMs = 0
if granted < wants then
  if granted > 0 then since, before = now, before + after end
  -- Each of those before is taken to take one place: better to come a little early than to let one lie idle.
  local kept = free - granted
  local longestMs = kept > 0 and ${graceMs} or etaMs(1) + ${longestTurnMs} + before * ${turnMs}
  waitMs = math.max(closedMs, math.min(etaMs(math.max(kept, before) + 1), longestMs))
  book.line[me] = { since = since, wants = wants - granted, dueAt = now + waitMs }
end

local answer = close(used)
answer.granted, answer.waitMs = granted, waitMs
return cjson.encode(answer)
`;
