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
	errDown     = errors.New("the server is away")
	errBusy     = errors.New("too many requests wait for the server")
	errReply    = errors.New("the server's reply to the script has an unknown form")
	errDeadline = errors.New("the server did not answer in time")
	errEnded    = errors.New("the connection to the server has ended")
	errRefused  = errors.New("the server answered the script with an error")
)

// replyFault is an error that a server replies with and that says something
// about the server rather than about one request: no request is worth sending
// to it until it has gone.
type replyFault struct {
	code string // the first word of the reply
	err  error
}

// replyFaults are the error codes of Redis and Valkey (src/server.c,
// createSharedObjects; src/acl.c; src/cluster.c) for a server that takes no
// writes, or none from us.
var replyFaults = []replyFault{
	{"READONLY", errors.New("READONLY: the server is a replica")},
	{"MASTERDOWN", errors.New("MASTERDOWN: the server is a replica and its master is away")},
	{"LOADING", errors.New("LOADING: the server is loading its data")},
	{"CLUSTERDOWN", errors.New("CLUSTERDOWN: the cluster is down, or nobody serves the key's slot")},
	{"NOREPLICAS", errors.New("NOREPLICAS: the server has too few replicas to take writes")},
	{"MISCONF", errors.New("MISCONF: the server takes no writes because it cannot save its data")},
	{"OOM", errors.New("OOM: the server's memory is full and its maxmemory-policy evicts nothing")},
	{"BUSY", errors.New("BUSY: the server runs a script that takes too long")},
	{"NOAUTH", errors.New("NOAUTH: the server wants a password")},
	{"WRONGPASS", errors.New("WRONGPASS: the server does not accept the user name or the password")},
	{"NOPERM", errors.New("NOPERM: the user may not run EVAL, EVALSHA, GET, SET and TIME on keys with the prefix")},
}

// serverFault returns what a reply says about the server, or nil. Where a
// command of a script fails, Redis 6 puts the script's name and line before
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

// explain returns an error to show for one of the client library. Its text
// holds no part of a user name or a password. Servers repeat these in their
// replies: Redis 5 in `unknown command HELLO, with args beginning with …`,
// Redis 6 in `User … has no permissions`. So no text of a server is shown,
// and of the rest only what the standard library says about addresses, names
// and certificates.
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
	case errors.Is(err, context.DeadlineExceeded):
		return errDeadline
	case errors.Is(err, valkey.ErrNoSlot):
		return valkey.ErrNoSlot
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	return errEnded
}
