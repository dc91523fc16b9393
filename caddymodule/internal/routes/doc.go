// Package routes walks Caddy's routes: those of a running server, and those of a
// configuration in JSON. It says where a handler is, for which hosts, and which
// requests reach it.
//
//	sites := routes.Find(servers, func(h caddyhttp.MiddlewareHandler) bool { return h == mine })
//	fmt.Println(sites[mine].Hosts, sites[mine].Route.Matcher())
//
//	for route, handler := range routes.WalkJSON(config) {
//		fmt.Println(handler["handler"], route.Hosts())
//	}
//
// It knows no handler of this module: callers compare handlers themselves. It runs
// no handlers except, in Follow, those that only change the request.
package routes
