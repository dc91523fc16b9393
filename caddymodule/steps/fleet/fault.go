package fleet

import (
	"cmp"
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
	errReply    = errors.New("the server's reply to the script has an unknown format")
	errDeadline = errors.New("the server did not answer in time")
	errEnded    = errors.New("the connection to the server was closed")
	errRefused  = errors.New("the server replied to the script with an error")
)

// replyFaults are the codes of error replies that concern the server, and not only one
// request: until the cause is gone, every request would fail. They are those of Redis and Valkey
// (src/server.c, createSharedObjects; src/acl.c; src/cluster.c) of a server that refuses all
// writes, or all commands of this client.
var replyFaults = []string{
	"READONLY", "MASTERDOWN", "LOADING", "CLUSTERDOWN", "NOREPLICAS", "MISCONF", "OOM", "BUSY", "NOAUTH", "WRONGPASS", "NOPERM",
}

// serverFault returns an error with the one of replyFaults that an error reply has, or nil. If a
// command in a script fails, the reply of Redis 6 has the script's name and line before
// the code.
func serverFault(err error) error {
	if _, replied := valkey.IsValkeyErr(err); !replied {
		return nil
	}
	text := err.Error() + " "
	for _, code := range replyFaults {
		if strings.HasPrefix(text, code+" ") || strings.Contains(text, ": -"+code+" ") {
			return errors.New("the server replied to the script with the error " + code)
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
	if err == nil {
		return nil
	}
	if fault := serverFault(err); fault != nil {
		return fault
	}
	if _, replied := valkey.IsValkeyErr(err); replied {
		return errRefused
	}
	if known := cmp.Or(as[*net.OpError](err), as[*net.DNSError](err), as[*tls.CertificateVerificationError](err),
		as[tls.RecordHeaderError](err), as[tls.AlertError](err)); known != nil {
		return known
	}
	if err == errDeadline || errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errReply) {
		return errDeadline
	}
	for _, known := range []error{errReply, valkey.ErrNoSlot, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errEnded
}

// as returns the first error of a type that err wraps, or nil.
func as[E error](err error) error {
	if e, ok := errors.AsType[E](err); ok {
		return e
	}
	return nil
}
