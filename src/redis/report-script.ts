import { bookScript } from "./book-script.ts";

// What a success gives back of the pace that a 429 took, and the least that is left of it.
const growth = 1 / 200;
const leastShare = 1 / 64;

/** Writes down how places stand, known or not; a 429 pauses everybody. */
export const reportScript = `${bookScript}
if request.isReturning then settleIn() end

for _, place in ipairs(request.places) do
  if place.state == 'unused' then
    redis.call('ZREM', placesKey, place.id)
  else
    local at = place.state == 'held' and now + request.leaseMs or now - place.agoMs
    redis.call('ZADD', placesKey, exact(at), place.id)
  end
end
-- All but the epoch's name, which stands at 0.
redis.call('ZREMRANGEBYSCORE', placesKey, '(0', exact(now - book.longestMs))

book.share = math.min(1, book.share + request.succeeded * ${growth})
if request.refusedForMs then
  if book.pausedUntil <= now then book.share = math.max(${leastShare}, book.share / 2) end
  book.pausedUntil = math.max(book.pausedUntil, math.ceil(now + request.refusedForMs))
end

local used = {}
for index, window in ipairs(request.windows) do used[index] = usedIn(window) end
return cjson.encode(close(used))
`;
