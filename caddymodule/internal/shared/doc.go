// Package shared keeps what outlives a configuration, because a reload must lose
// neither budgets nor the last good robots.txt nor connections. Configurations
// with the same settings share a value by its key:
//
//	limiter, release := shared.Get("limiter", func() *throttle.Memory { return throttle.NewMemory(n) })
//	defer release()
//
// It knows no settings.
package shared
