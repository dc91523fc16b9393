package scenario

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// Adapted changes a configuration in JSON for a scenario: what it keeps is in dir, each
// log without an output of its own is JSON to log, the admin endpoint is a socket, no
// certificate is asked for, and servers listen where listen says.
func Adapted(config []byte, dir string, log map[string]any, listen func(address string) string) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(config, &doc); err != nil {
		return nil, err
	}
	doc["admin"] = map[string]any{"listen": "unix/" + Socket(dir), "config": map[string]any{"persist": false}}
	doc["storage"] = map[string]any{"module": "file_system", "root": filepath.Join(dir, ".data")}
	logs := object(object(doc, "logging"), "logs")
	object(logs, "default")
	for name := range logs {
		if one := object(logs, name); one["writer"] == nil {
			one["writer"], one["encoder"] = log, map[string]any{"format": "json"}
		}
	}
	servers := object(object(object(doc, "apps"), "http"), "servers")
	for name := range servers {
		server := object(servers, name)
		addresses, _ := server["listen"].([]any)
		for i, a := range addresses {
			addresses[i] = listen(fmt.Sprint(a))
		}
		server["protocols"] = []string{"h1"}
		object(server, "automatic_https")["disable"] = true
	}
	return json.Marshal(doc)
}

// Proxied changes a configuration so that its servers read the PROXY protocol, with which a
// client's address is sent.
func Proxied(config []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(config, &doc); err != nil {
		return nil, err
	}
	servers := object(object(object(doc, "apps"), "http"), "servers")
	for name := range servers {
		object(servers, name)["listener_wrappers"] = []any{map[string]any{"wrapper": "proxy_protocol", "allow": []string{"127.0.0.0/8"}}}
		delete(object(servers, name), "tls_connection_policies")
	}
	return json.Marshal(doc)
}

// Socket returns the socket of the admin endpoint of a server whose working folder is dir.
func Socket(dir string) string { return filepath.Join(dir, ".admin") }

// object returns an object within an object, and makes it if there is none.
func object(in map[string]any, name string) map[string]any {
	if inner, ok := in[name].(map[string]any); ok {
		return inner
	}
	inner := make(map[string]any)
	in[name] = inner
	return inner
}

// Port returns the port of an address to listen on.
func Port(address string) string {
	return address[strings.LastIndexByte(address, ':')+1:]
}
