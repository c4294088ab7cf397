package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockfault/lockfault/checker/history"
	"github.com/lockfault/lockfault/scenarios"
	"github.com/lockfault/lockfault/scenarios/runner"
)

// schema is the protected resource: one row for each run, and a log of all that was asked of it, written in the same
// transaction. An access is one statement. It locks the row first, so accesses follow one another, and the numbers and
// times of the log are in their order. The write itself is the conditional update by which a table enforces fences.
const schema = `
create table resource (
	run bigint primary key, kind text not null, enforce boolean not null,
	value bigint not null, version bigint not null default 0,
	last_fence bigint not null default 0, last_lease text not null default ''
);
create table audit (
	number bigserial primary key, run bigint not null, at timestamptz not null,
	op text not null, client text not null, lease text not null, fence bigint not null, asked bigint not null,
	refused text not null, value bigint not null, version bigint not null
);
create function access(the_run bigint, op text, client text, lease text, fence bigint, asked bigint,
	out refused text, out value bigint, out version bigint) language plpgsql as $$
#variable_conflict use_column
declare
	r resource;
begin
	refused := '';
	select * into strict r from resource where run = the_run for update;
	if access.op = 'write' then
		update resource set
			value = case when kind = 'inventory' then value - asked else asked end,
			version = version + 1,
			last_fence = case when enforce then access.fence else last_fence end,
			last_lease = case when enforce then access.lease else last_lease end
		where run = the_run and (not enforce or last_fence < access.fence
			or (last_fence = access.fence and last_lease = access.lease and access.fence <> 0));
		if not found then
			refused := case when access.fence = r.last_fence
				then format('fence %s was already used by another grant', access.fence)
				else format('stale fence %s, a write with %s came before', access.fence, r.last_fence) end;
		end if;
		select * into strict r from resource where run = the_run;
	end if;
	access.value := r.value;
	access.version := r.version;
	insert into audit (run, at, op, client, lease, fence, asked, refused, value, version)
		values (the_run, clock_timestamp(), access.op, access.client, access.lease, access.fence, access.asked,
			access.refused, access.value, access.version);
end $$;`

// database is the harness's access to the protected resource.
type database struct {
	mu   sync.Mutex // for conn
	conn *pgx.Conn
	// ahead is by how much the server's date is ahead of the monotonic clock; both are the machine's.
	ahead time.Duration
}

func databaseConfig(addr string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig("postgres://postgres@" + addr + "/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // one request, one reply
	return cfg, nil
}

func openDatabase(ctx context.Context, addr string) (*database, error) {
	cfg, err := databaseConfig(addr)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	d := &database{conn: conn}
	if _, err := conn.Exec(ctx, schema); err != nil {
		d.close()
		return nil, fmt.Errorf("make the protected resource: %w", err)
	}
	return d, nil
}

func (d *database) close() { _ = d.conn.Close(context.Background()) }

// connections counts those of a client that the server still serves.
func (d *database) connections(ctx context.Context, client string) (n int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err = d.conn.QueryRow(ctx, "select count(*) from pg_stat_activity where application_name = $1", clientPrefix+client).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the connections of client %s to the database: %w", client, err)
	}
	return n, nil
}

// create makes the resource of a run, and measures the server's clock.
func (d *database) create(ctx context.Context, run int, data *scenarios.Data, stock int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.measure(ctx); err != nil {
		return err
	}
	_, err := d.conn.Exec(ctx, "insert into resource (run, kind, enforce, value) values ($1, $2, $3, $4)",
		run, string(data.Kind), data.Enforce, stock)
	if err != nil {
		return fmt.Errorf("make the protected resource: %w", err)
	}
	return nil
}

// measure learns how the server's date relates to the monotonic clock. They run on one machine, so the relation must be
// the one that the machine's own clocks have; a server elsewhere could not put its log in order with the clients' events.
func (d *database) measure(ctx context.Context) error {
	before := wall()
	var at time.Time
	if err := d.conn.QueryRow(ctx, "select clock_timestamp()").Scan(&at); err != nil {
		return fmt.Errorf("ask the database for its time: %w", err)
	}
	after := wall()
	// The database rounds to microseconds.
	if t := time.Duration(at.UnixNano()); t < before-time.Microsecond || t > after+time.Microsecond {
		return fmt.Errorf("the database's clock is not this machine's: it showed %v between %v and %v; the container engine "+
			"must run on this machine", at, time.Unix(0, int64(before)), time.Unix(0, int64(after)))
	}
	d.ahead = offset()
	return nil
}

// offset is by how much the machine's date is ahead of its monotonic clock.
func offset() time.Duration {
	before := monotonic()
	date := wall()
	return date - (before+monotonic())/2
}

// clockTolerance is how far the machine's date may drift from its monotonic clock during a run.
const clockTolerance = time.Millisecond

// log tells what was asked of the resource in a run, in the order in which it was done.
func (d *database) log(ctx context.Context, run int, name string, origin time.Duration, tell func(history.Event)) error {
	if drift := offset() - d.ahead; drift > clockTolerance || drift < -clockTolerance {
		return fmt.Errorf("the machine's date was set during the run, by %v: the log of the database cannot be put in order", drift)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	rows, err := d.conn.Query(ctx,
		"select at, op, client, lease, fence, asked, refused, value, version from audit where run = $1 order by number", run)
	if err != nil {
		return fmt.Errorf("read the log of the database: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var at time.Time
		var r scenarios.Request
		var a scenarios.Response
		if err := rows.Scan(&at, &r.Op, &r.Client, &r.Lease, &r.Fence, &r.Value, &a.Refused, &a.Value, &a.Version); err != nil {
			return fmt.Errorf("read the log of the database: %w", err)
		}
		e := runner.AccessEvent(r, a, name)
		e.Time = time.Duration(at.UnixNano()) - d.ahead - origin
		tell(e)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the log of the database: %w", err)
	}
	return nil
}

// dataClient is one client's connection to the resource, in its own process.
type dataClient struct {
	client string
	run    int
	addr   string
	dial   func(ctx context.Context, addr string) (net.Conn, error)
	conn   *pgx.Conn
	raw    net.Conn
}

// open connects, if it is not.
func (d *dataClient) open(ctx context.Context) error {
	if d.conn != nil {
		return nil
	}
	cfg, err := databaseConfig(d.addr)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["application_name"] = clientPrefix + d.client
	var connected atomic.Bool
	cfg.DialFunc = func(ctx context.Context, _, addr string) (net.Conn, error) {
		if connected.Load() { // only to ask the server to cancel, see Do
			return nil, errNoCancel
		}
		conn, err := d.dial(ctx, addr)
		d.raw = conn
		return conn, err
	}
	d.conn, err = pgx.ConnectConfig(ctx, cfg)
	connected.Store(true)
	return err
}

var errNoCancel = errors.New("what was sent is not called back")

// Do implements runner.DataClient. The statement is sent once. If no answer comes in time, the connection is dropped
// without asking the server to cancel: what is on its way is still carried out when it arrives.
func (d *dataClient) Do(r scenarios.Request, timeout time.Duration) (scenarios.Response, error) {
	var a scenarios.Response
	deadline := time.Now().Add(timeout)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if err := d.open(ctx); err != nil {
		d.Close()
		return a, fmt.Errorf("%w: %w", runner.ErrNotSent, err)
	}
	if err := d.raw.SetDeadline(deadline); err != nil {
		d.Close()
		return a, fmt.Errorf("%w: %w", runner.ErrNotSent, err)
	}
	err := d.conn.QueryRow(context.Background(), "select * from access($1, $2, $3, $4, $5, $6)",
		d.run, string(r.Op), r.Client, r.Lease, r.Fence, r.Value).Scan(&a.Refused, &a.Value, &a.Version)
	if err == nil {
		err = d.raw.SetDeadline(time.Time{})
	}
	if err != nil {
		d.Close()
		return scenarios.Response{}, fmt.Errorf("no answer from the resource: %w", err)
	}
	return a, nil
}

// Close drops the connection. What was sent on it may still arrive.
func (d *dataClient) Close() {
	if d.raw != nil {
		_ = d.raw.Close()
	}
	d.conn, d.raw = nil, nil
}

var errNoServer = errors.New("no server at this address")
