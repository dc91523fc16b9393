// Package notify sends the news about accidents to people: by e-mail, to ntfy, to webhooks
// and to what else the library shoutrrr knows. It is the event handler
// events.handlers.robots_notify, and the global setting notify for all accidents.
//
//	handler := &notify.Handler{URLs: []string{"ntfy://ntfy.sh/my-topic"}}
//	err := handler.Provision(ctx)
//	...
//	err = handler.Handle(ctx, event)
//
// A message waits for no one: each URL has a queue of its own, which outlives the
// configuration. The package decides nothing about accidents, and shows no secret of a
// URL.
package notify
