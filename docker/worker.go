package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockfault/lockfault/locks"
	"github.com/lockfault/lockfault/locks/program"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// A worker is one client's process. It is told what to do by one JSON value per line on its standard input, and answers
// so on its standard output. Its times are the machine's monotonic clock, which it shares with the harness.

// order is one line to a worker. Exactly one field is set.
type order struct {
	Join      *place          `json:"join,omitempty"`      // comes first; answered by Ready
	Configure *workerConfig   `json:"configure,omitempty"` // comes next; answered by Ready
	Do        *runner.Command `json:"do,omitempty"`        // answered by Done with the same number; one at a time
	Number    int64           `json:"number,omitempty"`    // of Do, from 1
	Lift      uint64          `json:"lift,omitempty"`      // give on the reply of this number
	Look      bool            `json:"look,omitempty"`      // the stall on the board may be over
	Close     bool            `json:"close,omitempty"`     // answered by Closed
}

// place is where a client stands.
type place struct {
	Client    string         `json:"client"`
	Nodes     []string       `json:"nodes"`     // addresses of the lock servers
	Sentinels []string       `json:"sentinels"` // addresses of the Sentinels, if they say which server leads
	Ways      map[string]way `json:"ways"`      // where those addresses lead, and others that a Sentinel may tell
	Data      string         `json:"data"`      // address of the database, through its proxy
	Run       int            `json:"run"`       // number of the row in the database
	Watched   bool           `json:"watched"`   // hold each reply until it is lifted
	Program   string         `json:"program"`   // command of the lock, if it is a program
}

// way is what stands behind an address.
type way struct {
	Proxy string `json:"proxy"` // the client's own link
	Node  int    `json:"node"`  // place among the lock servers; aSentinel if it is none
}

const aSentinel = -1

// workerConfig is what a client works with.
type workerConfig struct {
	Lock     string             `json:"lock"`
	TTL      time.Duration      `json:"ttl_ns"`
	Fencing  bool               `json:"fencing"`
	Seed     uint64             `json:"seed"`
	Resource string             `json:"resource"`
	Kind     scenarios.DataKind `json:"kind"`
	Origin   time.Duration      `json:"origin_ns"` // start of the run, on the monotonic clock
}

// report is one line from a worker. Exactly one field is set.
type report struct {
	Ready  *problem           `json:"ready,omitempty"`
	Done   *runner.Completion `json:"done,omitempty"`
	Number int64              `json:"number,omitempty"` // of the order that is done
	Lost   *lost              `json:"lost,omitempty"`
	Held   *held              `json:"held,omitempty"`
	Closed *problem           `json:"closed,omitempty"`
}

// problem is an error on its way between processes; empty for none.
type problem struct {
	Error string `json:"error,omitempty"`
}

func asProblem(err error) *problem {
	if err == nil {
		return &problem{}
	}
	return &problem{err.Error()}
}

func (p *problem) err() error {
	if p.Error == "" {
		return nil
	}
	return errors.New(p.Error)
}

// lost tells that the lock has told its holder that a lease is over.
type lost struct {
	Lease string        `json:"lease"`
	At    time.Duration `json:"at_ns"`
}

// insideWorker is set in the environment of a worker. A program that does not serve as one when it is called so would start
// a testbed in turn, and so on without end; Start refuses that.
const insideWorker = "LOCKFAULT_INSIDE_WORKER"

// boardFile is the file descriptor under which a worker finds the board.
const boardFile = 3

// ServeWorker is a client's process: it carries out what stdin tells until that ends. It returns an exit status.
func ServeWorker(stdin io.Reader, stdout, stderr io.Writer) int {
	// What the lock under test prints must not get between the answers.
	os.Stdout = os.Stderr
	redis.SetLogger(silent{})
	b, err := mapBoard(os.NewFile(boardFile, "board"))
	if err != nil {
		fmt.Fprintln(stderr, "lockfault "+WorkerVerb+":", err)
		return 3
	}
	closeOnExec(boardFile) // a lock that is a program has no use for it
	go beat(b)
	w := &worker{board: b, out: json.NewEncoder(stdout)}
	orders := json.NewDecoder(bufio.NewReader(stdin))
	for {
		var o order
		if err := orders.Decode(&o); err == io.EOF {
			return 0
		} else if err != nil {
			fmt.Fprintln(stderr, "lockfault "+WorkerVerb+":", err)
			return 3
		}
		w.obey(o)
	}
}

// beat shows that the process runs.
func beat(b *board) {
	for tick := time.NewTicker(beatEvery); ; <-tick.C {
		b.beat.Store(int64(monotonic()))
	}
}

// worker is the state of a client's process.
type worker struct {
	board   *board
	place   place
	data    *dataClient
	program *program.Program // the lock, if it is one
	hands   runner.Hands
	traffic *traffic
	origin  time.Duration

	mu  sync.Mutex
	out *json.Encoder
}

func (w *worker) report(r report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.out.Encode(r) // nobody listens any more: the end of stdin comes next
}

// obey carries out an order; what takes time goes on beside.
func (w *worker) obey(o order) {
	switch {
	case o.Join != nil:
		w.report(report{Ready: asProblem(w.join(*o.Join))})
	case o.Configure != nil:
		w.report(report{Ready: asProblem(w.configure(*o.Configure))})
	case o.Do != nil:
		go w.do(o.Number, *o.Do)
	case o.Lift > 0:
		w.traffic.lift(o.Lift)
	case o.Look:
		w.traffic.reopen()
	case o.Close:
		go func() { w.report(report{Closed: asProblem(w.hands.Close())}) }()
	}
}

func (w *worker) now() time.Duration { return monotonic() - w.origin }

func (w *worker) do(number int64, c runner.Command) {
	began := w.now()
	done := w.hands.Do(c)
	done.Began, done.At = began, w.now()
	w.report(report{Done: &done, Number: number})
}

// join connects to the servers, as a service does at its start.
func (w *worker) join(p place) error {
	w.place = p
	w.traffic = newTraffic(w.board, p.Client, p.Watched, p.Ways, func(h held) { w.report(report{Held: &h}) })
	w.data = &dataClient{client: p.Client, run: p.Run, addr: p.Data, dial: w.traffic.dialResource}
	ctx, cancel := context.WithTimeout(context.Background(), consoleLimit)
	defer cancel()
	if err := w.data.open(ctx); err != nil {
		return fmt.Errorf("reach the protected resource: %w", err)
	}
	if p.Program != "" { // its way to the servers is not in this process: see gateway
		var err error
		w.program, err = program.Start(p.Program)
		return err
	}
	if err := w.traffic.connect(ctx, p.Nodes); err != nil {
		return fmt.Errorf("reach a lock server: %w", err)
	}
	return nil
}

// lock finds the lock, or the program that was started for it.
func (w *worker) lock(name string) (locks.Entry, error) {
	if w.program == nil {
		return locks.Find(name)
	}
	return locks.Entry{Name: name, New: w.program.Lock}, nil
}

// configure makes the lock.
func (w *worker) configure(cfg workerConfig) error {
	lock, err := w.lock(cfg.Lock)
	if err != nil {
		return err
	}
	w.origin = cfg.Origin
	env := locks.Env{
		Client: w.place.Client, Nodes: w.place.Nodes, Sentinels: w.place.Sentinels, TTL: cfg.TTL, Fencing: cfg.Fencing,
		Rand: runner.Random(cfg.Seed, w.place.Client),
	}
	if w.program == nil {
		env.Dial = w.traffic.dialLock
	}
	w.traffic.making.Store(true) // a lock may speak to its servers when it is made
	defer w.traffic.making.Store(false)
	w.hands, err = runner.NewHands(runner.HandsConfig{
		Client: w.place.Client, Resource: cfg.Resource, Lock: lock, Kind: cfg.Kind, Seed: cfg.Seed, Env: env,
		Data: w.data,
		Now:  w.now,
		Lost: w.lost,
	})
	return err
}

// lost tells the harness, once the client can notice: a client whose background work is stalled does not.
func (w *worker) lost(lease string, _ time.Duration) {
	w.traffic.pass()
	w.report(report{Lost: &lost{lease, w.now()}})
}
