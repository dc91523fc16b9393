package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

// patience bounds all waiting for a program.
const patience = time.Minute

// process is a running program. A request is sent with the PROXY protocol, so that it has
// the address of a client.
type process struct {
	program, dir string
	ports        map[string]int // the real one by the scenario's
	cmd          *exec.Cmd
	lost         int // how often a request may still be made again after a reload
}

func (p *process) Load(caddyfile string) error {
	adapt := exec.Command(p.program, "adapt", "--config", filepath.Join(p.dir, caddyfile), "--adapter", "caddyfile")
	adapt.Dir = p.dir
	var failed bytes.Buffer
	adapt.Stderr = &failed
	config, err := adapt.Output()
	if err != nil {
		return fmt.Errorf("adapting %s: %w: %s", caddyfile, err, lastLine(failed.String()))
	}
	config, err = scenario.Adapted(config, p.dir, map[string]any{"output": "stderr"}, func(address string) string {
		port := scenario.Port(address)
		if p.ports[port] == 0 {
			p.ports[port], err = freeport.Take()
		}
		return fmt.Sprintf("127.0.0.1:%d", p.ports[port])
	})
	if err != nil {
		return err
	}
	config, err = scenario.Proxied(config)
	if err != nil {
		return err
	}
	if p.cmd != nil {
		answer, err := p.Admin("POST", "/load", string(config), "")
		p.lost = 5
		if err == nil && answer.Status != http.StatusOK {
			err = errors.New(lastLine(answer.Body))
		}
		return err
	}
	file := filepath.Join(p.dir, ".config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(p.dir, ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = child.Command(p.program, "run", "--config", file)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.dir, log, log
	p.cmd.Env = append(os.Environ(), "HOME="+p.dir, "XDG_DATA_HOME="+p.dir, "XDG_CONFIG_HOME="+p.dir)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if answer, err := p.Admin("GET", "/config/apps/http/servers", "", ""); err == nil && answer.Status == http.StatusOK {
			return nil
		}
		select {
		case <-ended:
			p.cmd = nil
			return fmt.Errorf("it does not start: %s", lastLine(string(p.Log())))
		default:
		}
	}
	return errors.New("it does not start")
}

// lastLine returns the last line of a text.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (p *process) Stop() error {
	if p.cmd == nil {
		return nil
	}
	err := p.cmd.Process.Kill()
	p.cmd = nil
	return err
}

func (p *process) Do(q *scenario.Request) (*scenario.Answer, error) {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.ports[q.Port]))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	family, local := "TCP4", "127.0.0.1"
	if strings.Contains(q.Client, ":") {
		family, local = "TCP6", "::1"
	}
	fmt.Fprintf(conn, "PROXY %s %s %s 40000 %s\r\n", family, q.Client, local, q.Port)
	if _, err := conn.Write(q.Octets()); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: q.Method})
	if err != nil && p.lost > 0 { // Caddy may close connections that are made while it reloads
		p.lost--
		return p.Do(q)
	}
	p.lost = 0
	if err != nil {
		return new(scenario.Answer), nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return &scenario.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body)}, nil
}

func (p *process) Open(*scenario.Request) (*scenario.Answer, func(), error) {
	return nil, nil, errors.ErrUnsupported
}

func (p *process) Admin(method, target, body, header string) (*scenario.Answer, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", scenario.Socket(p.dir))
		}}}
	r, err := http.NewRequest(method, "http://localhost"+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if name, value, found := strings.Cut(header, ": "); found {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return &scenario.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(all)}, err
}

func (p *process) Pass(time.Duration) bool { return false }

func (p *process) Log() []byte {
	text, _ := os.ReadFile(filepath.Join(p.dir, ".log"))
	return text
}
