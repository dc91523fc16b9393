// Package routes walks Caddy's routes: those of a running server, and those of a
// configuration that is not provisioned. It says where a handler is, for which hosts, and
// which requests reach it.
//
//	sites := routes.Find(servers, func(h caddyhttp.MiddlewareHandler) bool { return h == mine })
//	fmt.Println(sites[mine].Hosts, sites[mine].Route.Matcher())
//
//	for route, handler := range routes.Walk(server.Routes) {
//		fmt.Println(handler.Name, route.Hosts())
//	}
//
// It knows no handler of this module: callers compare handlers themselves. It runs
// no handlers.
package routes
