package live

var NewCountersAt = newCounters
