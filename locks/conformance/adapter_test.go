package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// adapter is a lock on one node that speaks the protocol: an innocent one, with at most one sin.
type adapter struct {
	sin     string
	redis   *redis.Client
	ttl     time.Duration
	fencing bool
	leases  map[int64]*held
	undoing []net.Conn
}

type held struct {
	key, token string
	until      time.Time
}

type question struct {
	ID       int64    `json:"id"`
	Op       string   `json:"op"`
	Nodes    []string `json:"nodes"`
	TTL      int64    `json:"ttl_ms"`
	Fencing  bool     `json:"fencing"`
	Resource string   `json:"resource"`
	Wait     int64    `json:"wait_ms"`
	Lease    int64    `json:"lease"`
}

type reply map[string]any

const (
	grantScript = `if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) end return 0`
	ownScript   = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end `
)

var errNo = errors.New("no")

func serveAdapter(sin string) {
	if sin == "leaves its group" {
		leaveGroup()
	}
	a := &adapter{sin: sin, leases: map[int64]*held{}}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			panic(err)
		}
		if q.Op == "quit" {
			if a.sin == "stays on quit" {
				time.Sleep(time.Hour)
			}
			return
		}
		r := a.answer(q)
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n", line)
		a.afterwards(q, string(line))
	}
	if a.sin == "stays at the end of input" {
		time.Sleep(time.Hour)
	}
}

// afterwards commits the sins of those who cannot keep quiet.
func (a *adapter) afterwards(q question, line string) {
	switch {
	case a.sin == "answers twice" && q.Op == "release":
		fmt.Println(line)
	case a.sin == "chatters" && q.Op == "acquire":
		fmt.Println("got it!")
	case a.sin == "answers nobody" && q.Op == "valid":
		fmt.Printf(`{"id":%d,"outcome":"ok"}`+"\n", q.ID-1)
	}
}

func (a *adapter) answer(q question) reply {
	r := reply{"id": q.ID, "outcome": "ok"}
	err := a.do(q, r)
	switch {
	case errors.Is(err, errNo):
		r["outcome"], r["error"] = "fail", err.Error()
	case err != nil:
		r["outcome"], r["error"] = "unknown", err.Error()
		if a.sin == "takes a time-out for a no" {
			r["outcome"] = "fail"
		}
		if q.Op == "acquire" && (a.sin == "takes a time-out of acquire for a no" || a.sin == "undoes its attempts") {
			r["outcome"] = "fail"
		}
		if a.sin == "takes a time-out for a yes" {
			r["outcome"] = "ok"
		}
	}
	if a.sin == "answers with a wrong id" && q.Op == "extend" {
		r["id"] = q.ID + 1
	}
	if a.sin == "answers late" && q.Op == "valid" {
		time.Sleep(2 * promptly)
	}
	return r
}

func (a *adapter) do(q question, r reply) error {
	ctx := context.Background()
	switch q.Op {
	case "hello":
		a.hello(q, r)
		return nil
	case "acquire":
		return a.acquire(ctx, q, r)
	}
	h := a.leases[q.Lease]
	switch q.Op {
	case "extend":
		return a.extend(ctx, h, r)
	case "release":
		return a.release(ctx, h)
	case "valid":
		if a.sin == "is always valid" || time.Now().Before(h.until) {
			return nil
		}
	}
	return errNo
}

func (a *adapter) hello(q question, r reply) {
	r["name"], r["servers"], r["fences"], r["like"] = "test-adapter", "one-node", true, "single"
	r["waits"] = strings.HasPrefix(a.sin, "waits")
	if a.sin == "cannot extend" {
		r["extends"] = false
	}
	if len(q.Nodes) == 0 {
		return
	}
	a.ttl, a.fencing = time.Duration(q.TTL)*time.Millisecond, q.Fencing
	timeout := 300 * time.Millisecond
	if a.sin == "hangs on silent servers" {
		timeout = time.Hour
	}
	o := &redis.Options{
		Addr: q.Nodes[0], MaxRetries: -1, ReadTimeout: timeout, WriteTimeout: timeout, DialTimeout: timeout,
		DialerRetries: 1, DisableIdentity: true, Protocol: 2,
	}
	if a.sin == "names its connections" {
		o.ClientName = "mine"
	}
	a.redis = redis.NewClient(o)
}

func (a *adapter) acquire(ctx context.Context, q question, r reply) error {
	sent := time.Now()
	for {
		err := a.attempt(ctx, q, r)
		wait := time.Duration(q.Wait) * time.Millisecond
		if a.sin == "waits for ever" {
			wait = time.Hour
		}
		if !strings.HasPrefix(a.sin, "waits") || !errors.Is(err, errNo) || time.Since(sent) > wait {
			return err
		}
		time.Sleep(10 * time.Millisecond)
		if a.sin != "waits without waited_ms" {
			r["waited_ms"] = float64(time.Since(sent)) / 1e6
		}
	}
}

func (a *adapter) attempt(ctx context.Context, q question, r reply) error {
	sent := time.Now()
	if a.sin == "ignores the resource" {
		q.Resource = "everything"
	}
	h := &held{key: "lock:" + q.Resource, token: fmt.Sprint(os.Getpid(), "-", q.ID)}
	switch a.sin {
	case "never asks the servers":
	case "grants twice":
		if err := a.redis.Set(ctx, h.key, h.token, a.ttl).Err(); err != nil {
			return err
		}
	default:
		ttl := a.ttl
		switch a.sin {
		case "ignores the TTL":
			ttl = time.Hour
		case "takes seconds for milliseconds":
			ttl /= 4
		}
		fence, err := a.redis.Eval(ctx, grantScript, []string{h.key, "fence:" + q.Resource}, h.token, ttl.Milliseconds()).Int64()
		if err != nil && a.sin == "undoes its attempts" {
			a.undo(h)
		}
		if err != nil && a.sin != "grants without a server" {
			return err
		}
		if fence == 0 && err == nil {
			return errNo
		}
		if a.sin == "repeats its fences" {
			fence = 7
		}
		if a.fencing {
			r["fence"] = fence
		}
	}
	h.until = sent.Add(a.ttl)
	a.leases[q.ID] = h
	r["token"], r["validity_ms"] = h.token, a.remaining(sent)
	if a.sin == "claims no end" {
		delete(r, "validity_ms")
	}
	return nil
}

// undo has the server delete the key of an attempt, and waits for no answer. The client of the other commands is of no use
// here: it would greet the server on a new connection first, and wait.
func (a *adapter) undo(h *held) {
	conn, err := net.Dial("tcp", a.redis.Options().Addr)
	if err != nil {
		return
	}
	args := []string{"eval", ownScript + `return redis.call('del', KEYS[1])`, "1", h.key, h.token}
	fmt.Fprintf(conn, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(arg), arg)
	}
	a.undoing = append(a.undoing, conn) // one that was forgotten would be closed
}

// remaining is the validity of a lease that was asked for at a time.
func (a *adapter) remaining(sent time.Time) float64 {
	left := float64(a.ttl-time.Since(sent)) / 1e6
	switch a.sin {
	case "claims too much":
		left += 100
	case "claims in seconds":
		left /= 1000
	}
	return left
}

func (a *adapter) extend(ctx context.Context, h *held, r reply) error {
	sent := time.Now()
	if a.sin == "lies about extending" {
		r["validity_ms"] = a.remaining(sent)
		return nil
	}
	if a.sin == "extends for ever" {
		return a.reply(a.redis.Eval(ctx, ownScript+`return redis.call('persist', KEYS[1])`, []string{h.key}, h.token), r, h, sent)
	}
	if a.sin == "extends anyone's" {
		return a.reply(a.redis.Eval(ctx, `return redis.call('pexpire', KEYS[1], ARGV[2])`, []string{h.key}, h.token, a.ttl.Milliseconds()), r, h, sent)
	}
	return a.reply(a.redis.Eval(ctx, ownScript+`return redis.call('pexpire', KEYS[1], ARGV[2])`, []string{h.key}, h.token, a.ttl.Milliseconds()), r, h, sent)
}

func (a *adapter) reply(cmd *redis.Cmd, r reply, h *held, sent time.Time) error {
	done, err := cmd.Int64()
	if err != nil {
		return err
	}
	if done == 0 {
		return errNo
	}
	h.until = sent.Add(a.ttl)
	r["validity_ms"] = a.remaining(sent)
	return nil
}

func (a *adapter) release(ctx context.Context, h *held) error {
	switch a.sin {
	case "lies about releasing":
		return nil
	case "releases anyone's":
		return a.redis.Del(ctx, h.key).Err()
	}
	done, err := a.redis.Eval(ctx, ownScript+`return redis.call('del', KEYS[1])`, []string{h.key}, h.token).Int64()
	if err == nil && done == 0 && a.sin != "says released of what it did not hold" {
		err = errNo
	}
	return err
}
