-- Decides on one request with the terms in ARGV and the budget in KEYS[1], or
-- gives back what a request has used, by the same GCRA as gcra.go. Times are in microseconds since 1970; a double
-- represents them exactly.
--
-- ARGV: 1 "server" or "caller": the clock that counts; 2 the time now by the
-- caller's clock; 3 how long after now the request is to be accepted; 4 the
-- largest error of converted times; 5 the signature of the terms; 6, 7 the
-- values of last and used that the caller knows, 0 if it knows none; 8 the
-- number of limits; 9 "take" or "return"; 10 a time: if the stored state is
-- older, the callers have decided without it, and the budget may be used up; 1 if
-- there must be a stored state, 0 if the caller does not know; then for each limit: its interval, tolerance, window (from
-- and length, in minutes), unit, and the arrival time that the caller knows.
--
-- Times in ARGV and in the reply are by the caller's clock. Stored times are by
-- the server's clock.
--
-- Returns {1 or 0, last, used, arrival times ...}.
local MAX_WAIT, DAY = 600000000, 1440

local now = tonumber(ARGV[2])
local ahead = 0 -- the server's clock minus the caller's
if ARGV[1] == 'server' then
  local t = redis.call('TIME')
  ahead = tonumber(t[1]) * 1000000 + tonumber(t[2]) - now
  now = now + ahead
end
local at, slack, n = now + tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[8])

local limits = {}
for i = 1, n do
  local a = 10 + (i - 1) * 6
  limits[i] = {
    interval = tonumber(ARGV[a + 1]), tolerance = tonumber(ARGV[a + 2]),
    from = tonumber(ARGV[a + 3]), length = tonumber(ARGV[a + 4]),
    unit = tonumber(ARGV[a + 5]), known = tonumber(ARGV[a + 6]) + ahead,
  }
end
local function open(l, instant)
  return (math.floor((instant - ahead) / 60000000) % DAY - l.from) % DAY < l.length
end
local function round(l, tat)
  return tat - tat % l.unit
end

-- Reads the stored state, and converts it to these terms.
local last, used, tat = now, 0, {}
for i = 1, n do tat[i] = now end
local fields = {}
for field in string.gmatch(redis.call('GET', KEYS[1]) or '', '%S+') do
  fields[#fields + 1] = field
end
local rewound = false
if #fields >= 3 then
  last, used = tonumber(fields[2]), tonumber(fields[3])
  for i, l in ipairs(limits) do
    tat[i] = last
    if fields[1] == ARGV[5] then
      tat[i] = tonumber(fields[3 + i])
    elseif open(l, last) then
      tat[i] = round(l, last + math.floor(math.min(used * l.interval, l.interval + l.tolerance)))
    end
  end
  local ahead = last - now
  if ahead > MAX_WAIT then
    rewound, last = true, now
    for i = 1, n do tat[i] = tat[i] - ahead end
  end
end

local function save()
  local free, value = last, {ARGV[5], string.format('%.0f', last), string.format('%.9g', used)}
  for i = 1, n do
    free = math.max(free, tat[i])
    value[3 + i] = string.format('%.0f', tat[i])
  end
  -- The key expires a minute after the budget is unused, so that the state can
  -- still be converted if the file changes.
  redis.call('SET', KEYS[1], table.concat(value, ' '), 'PX', string.format('%.0f', math.ceil((free - now) / 1000) + 60000))
end
local function reply(ok)
  local values = {ok, last - ahead, string.format('%.9g', used)}
  for i = 1, n do values[3 + i] = tat[i] - ahead end
  return values
end

-- Gives back the request that was accepted for the instant at, unless a later
-- one was accepted.
if ARGV[9] == 'return' then
  local ok, before, least = 1, now, nil
  for i, l in ipairs(limits) do
    if open(l, at) then
      tat[i] = tat[i] - l.interval
      if tat[i] - l.tolerance > at + slack then ok = 0 end
      before = math.max(before, tat[i] - l.interval - l.tolerance)
      least = math.min(least or l.interval, l.interval)
    end
  end
  if fields[1] ~= ARGV[5] or not least or last < at - least / 2 then ok = 0 end
  if ok == 1 then
    last, used = math.min(last, before), 0
    for i, l in ipairs(limits) do
      if open(l, at) then used = math.max(used, (tat[i] - last) / l.interval) end
    end
    save()
  end
  return reply(ok)
end

local stored = last

-- Adds the requests that the caller accepted while it could not call the server.
local known = tonumber(ARGV[6])
if known > 0 and known + ahead - now <= MAX_WAIT then
  known = known + ahead
  if #fields < 3 then slack = 0 end
  if known > last + slack or #fields < 3 then
    last, used = known, tonumber(ARGV[7])
  end
  for i, l in ipairs(limits) do
    if l.known > tat[i] + slack then tat[i] = l.known end
  end
end

-- After an outage or a loss of data, no process knows what all have accepted. So
-- the next request is accepted after a part of the interval that is different for
-- each key, but the same for all processes.
local since, apart = tonumber(ARGV[10]), false
if since > 0 and (#fields < 3 or since > 1 and stored < since + ahead - slack) then
  local part = tonumber(string.sub(KEYS[1], -8), 16) / 4294967296
  apart, last, used = true, now, 0
  for i, l in ipairs(limits) do
    tat[i] = math.max(tat[i], round(l, now + l.tolerance + math.floor(part * l.interval)))
    used = math.max(used, (tat[i] - last) / l.interval)
  end
end

local ok, counts = 1, false
for i, l in ipairs(limits) do
  if open(l, at) and tat[i] - l.tolerance > at then ok = 0 end
end
if ok == 1 then
  local most = 0
  for i, l in ipairs(limits) do
    if open(l, at) then
      counts = true
      tat[i] = round(l, math.max(at, tat[i]) + l.interval)
      most = math.max(most, (tat[i] - at) / l.interval)
    end
  end
  if counts then last, used = math.max(last, at), most end
end

if counts or rewound or apart then save() end
return reply(ok)
