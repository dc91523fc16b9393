-- Decides on one request that uses the budgets in KEYS, or gives back what a
-- request has used, by the same GCRA as gcra.go. A request that one budget refuses
-- uses none. Times are in microseconds since 1970; a double represents them
-- exactly.
--
-- ARGV: 1 "server" or "caller": the clock that counts; 2 the time now by the
-- caller's clock; 3 of "return", how long after now the request was accepted, else 0;
-- 4 the largest error of converted times; 5 "take" or "return".
-- Then for each key: the signature of the limits; the values of last and used
-- that the caller knows, 0 if it knows none; the number of limits.
-- Then for each limit of the key: its interval, tolerance, window (from and
-- length, in minutes), unit, and the arrival time that the caller knows.
--
-- Times in ARGV and in the reply are by the caller's clock. Stored times are by
-- the server's clock.
--
-- Returns {1 or 0, then for each key: last, used, arrival times ...}.
local MAX_LEAD, DAY = 600000000, 1440

local now = tonumber(ARGV[2])
local ahead = 0 -- the server's clock minus the caller's
if ARGV[1] == 'server' then
  local t = redis.call('TIME')
  ahead = tonumber(t[1]) * 1000000 + tonumber(t[2]) - now
  now = now + ahead
end
local at, slack = now + tonumber(ARGV[3]), tonumber(ARGV[4])

local function open(l, instant)
  return (math.floor((instant - ahead) / 60000000) % DAY - l.from) % DAY < l.length
end
local function round(l, tat)
  return tat - tat % l.unit
end

-- Returns the budget of a key, whose arguments start after the index a: the stored
-- state, converted to these limits.
local function read(key, a)
  local b = {
    key = key, sig = ARGV[a + 1], known = tonumber(ARGV[a + 2]), knownUsed = tonumber(ARGV[a + 3]),
    last = now, used = 0, tat = {},
  }
  for i = 1, tonumber(ARGV[a + 4]) do
    local c = a + 4 + (i - 1) * 6
    b[i] = {
      interval = tonumber(ARGV[c + 1]), tolerance = tonumber(ARGV[c + 2]),
      from = tonumber(ARGV[c + 3]), length = tonumber(ARGV[c + 4]),
      unit = tonumber(ARGV[c + 5]), known = tonumber(ARGV[c + 6]) + ahead,
    }
    b.tat[i] = now
  end
  local fields = {}
  for field in string.gmatch(redis.call('GET', key) or '', '%S+') do
    fields[#fields + 1] = field
  end
  b.stored, b.same = #fields >= 3, fields[1] == b.sig
  if b.stored then
    b.last, b.used = tonumber(fields[2]), tonumber(fields[3])
    for i, l in ipairs(b) do
      b.tat[i] = b.last
      if b.same then
        b.tat[i] = tonumber(fields[3 + i])
      elseif open(l, b.last) then
        b.tat[i] = round(l, b.last + math.floor(math.min(b.used * l.interval, l.interval + l.tolerance)))
      end
    end
    local early = b.last - now
    if early > MAX_LEAD then
      b.dirty, b.last = true, now
      for i = 1, #b do b.tat[i] = b.tat[i] - early end
    end
  end
  return b
end

local function save(b)
  local free, value = b.last, {b.sig, string.format('%.0f', b.last), string.format('%.9g', b.used)}
  for i = 1, #b do
    free = math.max(free, b.tat[i])
    value[3 + i] = string.format('%.0f', b.tat[i])
  end
  -- The key expires a minute after the budget is unused, so that the state can
  -- still be converted if the file changes.
  redis.call('SET', b.key, table.concat(value, ' '), 'PX', string.format('%.0f', math.ceil((free - now) / 1000) + 60000))
end

-- Gives back the request that was accepted for the instant at. Returns false if a
-- later one was accepted.
local function giveBack(b)
  local least = nil
  for i, l in ipairs(b) do
    if open(l, at) then
      b.tat[i] = b.tat[i] - l.interval
      if b.tat[i] - l.tolerance > at + slack then return false end
      least = math.min(least or l.interval, l.interval)
    end
  end
  if not least then return true end -- it has used nothing
  if b.last > at + slack or not b.same or b.last < at - least / 2 then return false end
  b.last, b.used, b.dirty = math.min(b.last, now), 0, true
  for i, l in ipairs(b) do
    if open(l, at) then b.used = math.max(b.used, (b.tat[i] - b.last) / l.interval) end
  end
  return true
end

-- Adds what the caller knows to the stored state, and returns whether every limit
-- accepts the request.
local function accepts(b)
  -- Adds the requests that the caller accepted while it could not call the server.
  if b.known > 0 and b.known + ahead - now <= MAX_LEAD then
    local known, slack = b.known + ahead, slack
    if not b.stored then slack = 0 end
    if known > b.last + slack or not b.stored then
      b.last, b.used = known, b.knownUsed
    end
    for i, l in ipairs(b) do
      if l.known > b.tat[i] + slack then b.tat[i] = l.known end
    end
  end
  for i, l in ipairs(b) do
    if open(l, at) and b.tat[i] - l.tolerance > at then return false end
  end
  return true
end

-- Records that the request is accepted.
local function use(b)
  local most = nil
  for i, l in ipairs(b) do
    if open(l, at) then
      b.tat[i] = round(l, math.max(at, b.tat[i]) + l.interval)
      most = math.max(most or 0, (b.tat[i] - at) / l.interval)
    end
  end
  if most then b.last, b.used, b.dirty = math.max(b.last, at), most, true end
end

local returns, ok, budgets, a = ARGV[5] == 'return', true, {}, 5
for i, key in ipairs(KEYS) do
  local b = read(key, a)
  budgets[i], a = b, a + 4 + #b * 6
  if returns then
    if not giveBack(b) then ok = false end
  elseif not accepts(b) then
    ok = false
  end
end
local reply = {ok and 1 or 0}
for _, b in ipairs(budgets) do
  if ok and not returns then use(b) end
  if b.dirty and (ok or not returns) then save(b) end
  reply[#reply + 1] = b.last - ahead
  reply[#reply + 1] = string.format('%.9g', b.used)
  for i = 1, #b do reply[#reply + 1] = b.tat[i] - ahead end
end
return reply
