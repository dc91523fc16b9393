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
	errBusy     = errors.New("too many requests are waiting for the server")
	errReply    = errors.New("the server's reply to the script has an unknown format")
	errDeadline = errors.New("the server did not answer in time")
	errEnded    = errors.New("the connection to the server was closed")
	errRefused  = errors.New("the server replied to the script with an error")
)

// replyFaults are the error replies that concern the server, and not only one
// request: until the cause is gone, every request would fail. Each begins with
// the code in Redis and Valkey (src/server.c, createSharedObjects; src/acl.c;
// src/cluster.c) of a server that refuses all writes, or all commands of this client.
var replyFaults = []error{
	errors.New("READONLY: the server is a replica"),
	errors.New("MASTERDOWN: the server is a replica, and its master is unavailable"),
	errors.New("LOADING: the server is loading its data"),
	errors.New("CLUSTERDOWN: the cluster is down, or no node serves the key's slot"),
	errors.New("NOREPLICAS: the server refuses writes because it has too few replicas"),
	errors.New("MISCONF: the server refuses writes because it can't save its data"),
	errors.New("OOM: the server's memory is full, and its maxmemory-policy evicts nothing"),
	errors.New("BUSY: the server is busy with a script that takes too long"),
	errors.New("NOAUTH: the server requires a password"),
	errors.New("WRONGPASS: the server does not accept the user name or the password"),
	errors.New("NOPERM: the user has no permission to run EVAL, EVALSHA, GET, SET and TIME on keys with the prefix"),
}

// serverFault returns the one of replyFaults that an error reply is, or nil. If a command in
// a script fails, the reply of Redis 6 has the script's name and line before
// the code.
func serverFault(err error) error {
	if _, replied := valkey.IsValkeyErr(err); !replied {
		return nil
	}
	text := err.Error() + " "
	for _, f := range replyFaults {
		code, _, _ := strings.Cut(f.Error(), ":")
		if strings.HasPrefix(text, code+" ") || strings.Contains(text, ": -"+code+" ") {
			return f
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
