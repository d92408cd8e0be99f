import { settleInMs } from "../store-places/place-store.ts";

// No shorter than any silence of a live process, so that a short window's count does not expire between two reports.
const leastKeptMs = 60_000;

/**
 * How both scripts begin: the request, the time, and the book.
 *
 * Two keys. `places`: a sorted set of the places by their time, those in flight at the end of their lease, and at 0 the
 * epoch's name. `book`: everything else, as JSON. The epoch stands in both, with the name of the Redis process that
 * holds them; so it is noticed if either is lost, and if a Redis comes back with an old snapshot or a late replica.
 */
export const bookScript = `
local request = cjson.decode(ARGV[1])
local placesKey, bookKey = KEYS[1], KEYS[2]

local text = redis.call('GET', bookKey)
local book = text and cjson.decode(text)
  or { share = 1, pausedUntil = 0, settlingUntil = 0, longestMs = 0, lastAt = 0, aheadMs = 0, line = {} }

-- The clock of Redis; where it is set back, no time has passed.
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000 + book.aheadMs
if now < book.lastAt then
  book.aheadMs = book.aheadMs + book.lastAt - now
  now = book.lastAt
end
book.lastAt = math.floor(now)

local function settleIn()
  if book.settlingUntil <= now then book.settlingUntil = math.ceil(now + ${settleInMs}) end
end

-- Lua turns numbers to texts of 14 digits; times have 16.
local function exact(ms)
  return string.format('%.3f', ms)
end

local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local remembers = book.epoch and book.run == run and redis.call('ZSCORE', placesKey, 'epoch:' .. book.epoch)
if not remembers then
  if book.epoch then settleIn() end
  book.epoch, book.run = request.newEpoch, run
  redis.call('ZREMRANGEBYSCORE', placesKey, 0, 0)
  redis.call('ZADD', placesKey, 0, 'epoch:' .. book.epoch)
end
if request.epoch and request.epoch ~= book.epoch then settleIn() end

for _, window in ipairs(request.windows) do
  book.longestMs = math.max(book.longestMs, window.countedMs)
end

local function limitOf(window)
  if window.shrinks then return math.max(1, math.floor(window.limit * book.share)) end
  return window.limit
end

local function usedIn(window)
  return redis.call('ZCOUNT', placesKey, '(' .. exact(now - window.countedMs), '+inf')
end

-- Writes the book, and gives what both answers hold.
local function close(used)
  local newest = redis.call('ZREVRANGE', placesKey, 0, 0, 'WITHSCORES')[2]
  local reachesTo = math.max(now, newest, book.pausedUntil, book.settlingUntil)
  local keptMs = math.ceil(reachesTo - now + book.longestMs + ${leastKeptMs})
  redis.call('SET', bookKey, cjson.encode(book), 'PX', keptMs)
  redis.call('PEXPIRE', placesKey, keptMs)
  return { epoch = book.epoch, share = book.share, pausedMs = math.max(0, book.pausedUntil - now), used = used }
end
`;
