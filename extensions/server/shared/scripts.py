"""What runs inside Redis, each script as one step: by its clock, not by that of an instance.

A window is a sorted set of entries `amount:id` by their microsecond, and a key with their sum. A
correction is an entry of its own, positive or negative, that expires with the one it corrects.
"""

from typing import Final

_WINDOWS: Final = """
local function read_now()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
local function read_amount(entry)
  return tonumber(string.match(entry, '^%-?%d+'))
end
local function format_number(number)
  return string.format('%.0f', number)
end
local function drop_expired(entries, total, since)
  local held = tonumber(redis.call('GET', total) or 0)
  if redis.call('EXISTS', entries, total) < 2 then
    held = 0
    for _, entry in ipairs(redis.call('ZRANGE', entries, 0, -1)) do
      held = held + read_amount(entry)
    end
  end
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', entries, '-inf', format_number(since))) do
    held = held - read_amount(entry)
  end
  redis.call('ZREMRANGEBYSCORE', entries, '-inf', format_number(since))
  return held
end
local function add(entries, total, held, at, amount, id, period)
  if redis.call('ZADD', entries, format_number(at), format_number(amount) .. ':' .. id) == 1 then
    held = held + amount
  end
  redis.call('SET', total, format_number(held), 'PX', math.ceil(period / 1000))
  redis.call('PEXPIRE', entries, math.ceil(period / 1000))
end
"""

TAKE: Final = (
    _WINDOWS
    + """
-- KEYS: first in the queue, entries and total of requests, entries and total of tokens.
-- ARGV: id, is_late, period, limit of requests, limit of tokens, tokens.
-- Returns the microseconds to wait: 0 when the request was counted.
local now, period, id = read_now(), tonumber(ARGV[3]), ARGV[1]
local first = redis.call('GET', KEYS[1])
if first and first ~= id then
  return 20000
end
local amounts, limits = {1, tonumber(ARGV[6])}, {tonumber(ARGV[4]), tonumber(ARGV[5])}
local held, wait = {}, 0
for window = 1, 2 do
  if limits[window] > 0 then
    local entries, total = KEYS[2 * window], KEYS[1 + 2 * window]
    held[window] = drop_expired(entries, total, now - period)
    local excess, from = held[window] + amounts[window] - limits[window], 0
    while excess > 0 do
      local found = redis.call('ZRANGE', entries, from, from + 49, 'WITHSCORES')
      if #found == 0 then
        break
      end
      for place = 1, #found, 2 do
        excess = excess - read_amount(found[place])
        if excess <= 0 then
          wait = math.max(wait, found[place + 1] + period - now, 1)
          break
        end
      end
      from = from + 50
    end
    redis.call('SET', total, format_number(held[window]), 'PX', math.ceil(period / 1000))
  end
end
if wait > 0 then
  if ARGV[2] == '1' then
    redis.call('SET', KEYS[1], id, 'PX', 3000)
  end
  return math.ceil(wait)
end
for window = 1, 2 do
  if limits[window] > 0 then
    local entries, total = KEYS[2 * window], KEYS[1 + 2 * window]
    add(entries, total, held[window], now, amounts[window], id, period)
  end
end
if first then
  redis.call('DEL', KEYS[1])
end
return 0
"""
)
"""Counts one request in both windows if it fits in both."""

CORRECT: Final = (
    _WINDOWS
    + """
-- KEYS: entries and total of tokens. ARGV: id, period, age and amount of the correction.
local now, period, age = read_now(), tonumber(ARGV[2]), tonumber(ARGV[3])
if age < period then
  local held = drop_expired(KEYS[1], KEYS[2], now - period)
  add(KEYS[1], KEYS[2], held, now - age, tonumber(ARGV[4]), ARGV[1], period)
end
return 1
"""
)
"""Adds what a request took more, or less, than was estimated."""

READ_SIGNALS: Final = """
-- KEYS: Retry-After, pause of the breaker, state of the breaker.
local state = redis.call('GET', KEYS[3])
return {redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2]), state or ''}
"""
BLOCK: Final = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
end
return 1
"""
OPEN_BREAKER: Final = """
-- KEYS: pause, state, probe. ARGV: pause and lifetime in milliseconds, the state.
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
return redis.call('DEL', KEYS[3])
"""
CLAIM_PROBE: Final = """
-- KEYS: probe. ARGV: its lifetime in milliseconds.
return redis.call('SET', KEYS[1], 1, 'NX', 'PX', ARGV[1]) and 1 or 0
"""
DELETE: Final = "return redis.call('DEL', unpack(KEYS))"
