package throttle

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/valkey-io/valkey-go"
)

var (
	errDown     = errors.New("the server is unavailable")
	errBusy     = errors.New("too many requests are waiting for the server")
	errReply    = errors.New("the server's reply to the script has an unknown format")
	errDeadline = errors.New("the server did not answer in time")
	errEnded    = errors.New("the connection to the server was closed")
	errRefused  = errors.New("the server replied to the script with an error")
)

// replyFault is an error reply that concerns the server, and not only one
// request. Until the cause is gone, every request would fail.
type replyFault struct {
	code string // the first word of the reply
	err  error
}

// replyFaults are the error codes of Redis and Valkey (src/server.c,
// createSharedObjects; src/acl.c; src/cluster.c) of a server that refuses all
// writes, or all commands of this client.
var replyFaults = []replyFault{
	{"READONLY", errors.New("READONLY: the server is a replica")},
	{"MASTERDOWN", errors.New("MASTERDOWN: the server is a replica, and its master is unavailable")},
	{"LOADING", errors.New("LOADING: the server is loading its data")},
	{"CLUSTERDOWN", errors.New("CLUSTERDOWN: the cluster is down, or no node serves the key's slot")},
	{"NOREPLICAS", errors.New("NOREPLICAS: the server refuses writes because it has too few replicas")},
	{"MISCONF", errors.New("MISCONF: the server refuses writes because it can't save its data")},
	{"OOM", errors.New("OOM: the server's memory is full, and its maxmemory-policy evicts nothing")},
	{"BUSY", errors.New("BUSY: the server is busy with a script that takes too long")},
	{"NOAUTH", errors.New("NOAUTH: the server requires a password")},
	{"WRONGPASS", errors.New("WRONGPASS: the server does not accept the user name or the password")},
	{"NOPERM", errors.New("NOPERM: the user has no permission to run EVAL, EVALSHA, GET, SET and TIME on keys with the prefix")},
}

// serverFault returns the replyFault of an error reply, or nil. If a command in
// a script fails, the reply of Redis 6 has the script's name and line before
// the code.
func serverFault(err error) error {
	if _, replied := valkey.IsValkeyErr(err); !replied {
		return nil
	}
	text := err.Error() + " "
	for _, f := range replyFaults {
		if strings.HasPrefix(text, f.code+" ") || strings.Contains(text, ": -"+f.code+" ") {
			return f.err
		}
	}
	return nil
}

// explain returns an error that is safe to show in place of an error of the
// client library. Its text has no part of a user name or a password. Servers
// repeat these in their replies: Redis 5 in `unknown command HELLO, with args
// beginning with …`, Redis 6 in `User … has no permissions`. So explain uses no
// text of a server, and of other errors only those of the standard library
// about addresses, names and certificates.
func explain(err error) error {
	var network *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	if err == nil {
		return nil
	}
	if fault := serverFault(err); fault != nil {
		return fault
	}
	if _, replied := valkey.IsValkeyErr(err); replied {
		return errRefused
	}
	switch {
	case errors.As(err, &network):
		return network
	case errors.As(err, &name):
		return name
	case errors.As(err, &certificate):
		return certificate
	case errors.As(err, &record):
		return record
	case errors.As(err, &alert):
		return alert
	case errors.Is(err, errReply):
		return errReply
	case errors.Is(err, context.DeadlineExceeded), err == errDeadline:
		return errDeadline
	case errors.Is(err, valkey.ErrNoSlot):
		return valkey.ErrNoSlot
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	return errEnded
}
