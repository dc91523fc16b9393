// Package routes walks Caddy's routes: those of a running server, and those of a
// configuration in JSON. It says where a handler is, for which hosts, and which
// requests reach it.
//
//	for route, handler := range routes.Walk(server.Routes, nil) {
//		if _, ok := handler.(*Handler); ok {
//			fmt.Println(route.Hosts(), route.Matcher())
//		}
//	}
//
// It knows no handler of this module: callers compare handlers themselves. It runs
// no handlers except, in Follow, those that only change the request.
package routes
