package fleet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

// processOrLog starts a server with arguments. It returns nil if no server is
// installed, because miniredis can't replace it here.
func processOrLog(t *testing.T, args ...string) *testbed {
	t.Helper()
	s, err := newProcess(args...)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Log("neither redis-server nor valkey-server is installed; this test does nothing")
		return nil
	}
	t.Cleanup(s.stop)
	return s
}

// checkSharedBudgets checks that two processes with c share budgets.
func checkSharedBudgets(t *testing.T, c config) {
	t.Helper()
	c.Deadline, c.Prefix = time.Minute, "topology:"
	a, _ := newFleet(t, c)
	b, r := newFleet(t, c)
	for i := range 50 { // in different slots of a cluster
		key := newKey(fmt.Sprint(i))
		if r := a.Take(t.Context(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}}); !r.OK {
			t.Fatalf("key %d: %+v", i, r)
		}
		if r := b.Take(t.Context(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}}); r.OK {
			t.Fatalf("key %d: %+v by the other process", i, r)
		}
	}
	if n := r.fallbacks.Load(); n > 0 {
		t.Errorf("%d decided without the server", n)
	}
}

func TestFleetTLS(t *testing.T) {
	cert, key, pool := selfSigned(t)
	port, err := freeport.Take()
	if err != nil {
		t.Fatal(err)
	}
	s := processOrLog(t, "--tls-port", fmt.Sprint(port), "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no")
	if s == nil {
		return
	}
	o, err := parseURL(fmt.Sprintf("valkeys://127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	c := config{ClientOption: o}
	r := newRecorder()
	f := newLimiter(c, throttle.NewMemory(100), r)
	f.connect()
	r.await(t, stateDown) // the certificate is not trusted
	f.close()

	c.TLSConfig = &tls.Config{RootCAs: pool}
	checkSharedBudgets(t, c)
}

func TestFleetUnixSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	if processOrLog(t, "--unixsocket", socket) == nil {
		return
	}
	o, err := parseURL("unix://" + socket)
	if err != nil {
		t.Fatal(err)
	}
	checkSharedBudgets(t, config{ClientOption: o})
}

// newCluster starts a cluster of three masters, or returns nil.
func newCluster(t *testing.T) (nodes []*testbed) {
	t.Helper()
	for range 3 {
		s := processOrLog(t, "--cluster-enabled", "yes", "--cluster-config-file", filepath.Join(t.TempDir(), "nodes.conf"),
			"--cluster-require-full-coverage", "no")
		if s == nil {
			return nil
		}
		nodes = append(nodes, s)
	}
	do := func(s *testbed, args ...string) string {
		t.Helper()
		client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{s.address}, ForceSingleClient: true, DisableCache: true})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		out, err := client.Do(t.Context(), client.B().Arbitrary(args...).Build()).ToString()
		if err != nil {
			t.Fatal(args, err)
		}
		return out
	}
	for i, slots := range [][2]string{{"0", "5000"}, {"5001", "11000"}, {"11001", "16383"}} {
		do(nodes[i], "CLUSTER", "ADDSLOTSRANGE", slots[0], slots[1])
		host, port, _ := net.SplitHostPort(nodes[i].address)
		do(nodes[0], "CLUSTER", "MEET", host, port)
	}
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(20 * time.Millisecond) {
		formed := true
		for _, s := range nodes {
			info := do(s, "CLUSTER", "INFO")
			formed = formed && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3") &&
				strings.Contains(info, "cluster_slots_assigned:16384") // else nodes may not know yet who has a slot
		}
		if formed {
			return nodes
		}
		if time.Now().After(deadline) {
			t.Fatal("the cluster does not form")
		}
	}
}

func TestFleetCluster(t *testing.T) {
	nodes := newCluster(t)
	if nodes == nil {
		return
	}
	o, err := parseURL("redis://" + nodes[0].address + "?addr=" + nodes[1].address)
	if err != nil {
		t.Fatal(err)
	}
	checkSharedBudgets(t, config{ClientOption: o})
	t.Run("uses", func(t *testing.T) { testUsesOnACluster(t, nodes) })
}

// A limiter gets the address of the master from the Sentinels, also after a
// failover.
func TestFleetSentinel(t *testing.T) {
	master := processOrLog(t)
	if master == nil {
		return
	}
	host, port, _ := net.SplitHostPort(master.address)
	processOrLog(t, "--replicaof", host, port)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor main %s %s 1\nsentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n", host, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel, err := newSentinel(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sentinel.stop)
	o, err := parseURL("redis://" + sentinel.address + "?master_set=main")
	if err != nil {
		t.Fatal(err)
	}
	c := config{ClientOption: o}
	checkSharedBudgets(t, c)

	f, r := newFleet(t, c)
	key := newKey("before")
	if r := f.Take(t.Context(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}}); !r.OK {
		t.Fatal(r)
	}
	master.kill()
	f.Take(t.Context(), time.Now(), []throttle.Use{{Key: newKey("at the change"), Limits: hourly}})
	r.await(t, stateDown)
	r.await(t, stateUp)
	fallbacks := r.fallbacks.Load()
	if r := f.Take(t.Context(), time.Now(), []throttle.Use{{Key: newKey("after"), Limits: hourly}}); !r.OK {
		t.Error(r)
	}
	if r := f.Take(t.Context(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}}); r.OK {
		t.Errorf("a budget was lost in the failover: %+v", r)
	}
	if n := r.fallbacks.Load() - fallbacks; n > 0 {
		t.Errorf("%d requests decided without the new master", n)
	}
}

// selfSigned writes a self-signed certificate for 127.0.0.1 and its key to
// files.
func selfSigned(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret), pool
}
